# frozen_string_literal: true

module Pelton
  VERSION = "0.1.0"
end
