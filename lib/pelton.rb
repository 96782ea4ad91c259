# frozen_string_literal: true

require_relative "pelton/version"
require_relative "pelton/pelton"
