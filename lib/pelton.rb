# frozen_string_literal: true

require_relative "pelton/version"
require_relative "pelton/error"
require_relative "pelton/pelton"
require_relative "pelton/reactor"
require_relative "pelton/operation"
require_relative "pelton/runtime"
require_relative "pelton/logger"
require_relative "pelton/watchdog"
require_relative "pelton/stream"
require_relative "pelton/listener"
require_relative "pelton/resolver"
require_relative "pelton/connector"
