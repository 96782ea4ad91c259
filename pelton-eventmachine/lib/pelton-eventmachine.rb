# frozen_string_literal: true

# EventMachine's API on Pelton's runtime: programs and gems that were written for EventMachine run unchanged. Either
# start Ruby with `-r pelton/eventmachine`, or add this repository's gem "eventmachine" to the Gemfile. A folder with
# EventMachine's file names comes first on the load path, so that a program that requires one of them afterwards gets
# Pelton's.
#
# `pelton/eventmachine` itself is a file of the gem pelton. It requires this file, or says that this gem is missing.

if defined?(EventMachine) && EventMachine.respond_to?(:run)
  raise LoadError, "the gem eventmachine is loaded already: require pelton/eventmachine before anything that " \
    "requires it (ruby -r pelton/eventmachine)"
end

require "pelton"

module Pelton
  # The folder with a file for each name that programs require from EventMachine.
  EVENTMACHINE_FILES = File.expand_path("../stand_in", __dir__)
end
$LOAD_PATH.unshift(Pelton::EVENTMACHINE_FILES) unless $LOAD_PATH.include?(Pelton::EVENTMACHINE_FILES)
# When this file was required by its path, later files must be found, too
$LOAD_PATH.push(__dir__) unless $LOAD_PATH.include?(__dir__)

require_relative "pelton/eventmachine/constants"
require_relative "pelton/eventmachine/settings"
require_relative "pelton/eventmachine/reactor"
require_relative "pelton/eventmachine/ticks"
require_relative "pelton/eventmachine/timers"
require_relative "pelton/eventmachine/threadpool"
require_relative "pelton/eventmachine/callback"
require_relative "pelton/eventmachine/deferrable"
require_relative "pelton/eventmachine/completion"
require_relative "pelton/eventmachine/queue"
require_relative "pelton/eventmachine/channel"
require_relative "pelton/eventmachine/iterator"
require_relative "pelton/eventmachine/pool"
require_relative "pelton/eventmachine/spawnable"
require_relative "pelton/eventmachine/threaded_resource"
require_relative "pelton/eventmachine/buftok"
require_relative "pelton/eventmachine/transport"
require_relative "pelton/eventmachine/inactivity"
require_relative "pelton/eventmachine/transport/stream"
require_relative "pelton/eventmachine/acceptor"
require_relative "pelton/eventmachine/connection"
require_relative "pelton/eventmachine/connecting"
require_relative "pelton/eventmachine/signatures"
require_relative "pelton/eventmachine/readiness"
require_relative "pelton/eventmachine/transport/watch"
require_relative "pelton/eventmachine/watching"
require_relative "pelton/eventmachine/transport/datagram"
require_relative "pelton/eventmachine/processes"
require_relative "pelton/eventmachine/file_watch"
require_relative "pelton/eventmachine/process_watch"
require_relative "pelton/eventmachine/proxy"
require_relative "pelton/eventmachine/streamer/target"
require_relative "pelton/eventmachine/streamer/io"
require_relative "pelton/eventmachine/streamer"
require_relative "pelton/eventmachine/keepalive"
require_relative "pelton/eventmachine/tls"
require_relative "pelton/eventmachine/functions"
require_relative "pelton/eventmachine/launching"
require_relative "pelton/eventmachine/protocols"
require_relative "pelton/eventmachine/dns"

# The usual short name.
EM = EventMachine unless defined?(EM)
