# frozen_string_literal: true

require "pelton"
require "sequel"
require "active_model"
require "active_support/core_ext/hash"
require "active_support/core_ext/object/blank"
require "active_support/core_ext/object/deep_dup"
require "active_support/core_ext/object/inclusion"
require "active_support/core_ext/object/try"
require "active_support/core_ext/enumerable"
require "active_support/parameter_filter"

module Pelton
  # Models on Sequel whose queries park their fiber instead of blocking the loop.
  module Record
  end
end

require_relative "record/model_error"
require_relative "record/connect"
require_relative "record/model"
