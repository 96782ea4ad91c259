# frozen_string_literal: true

module EventMachine
  # Handlers for protocols; other gems put theirs here as well.
  module Protocols
  end

  P = Protocols unless const_defined?(:P, false)
end
