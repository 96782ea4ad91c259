# frozen_string_literal: true

# EventMachine's API on Pelton's runtime: programs and gems that were written for EventMachine run unchanged. Either start
# Ruby with `-r pelton/eventmachine`, or put `gem "eventmachine", path: ...` of this repository into the Gemfile. It comes
# first on the load path, so that whatever requires a file of EventMachine afterwards gets this one.

if defined?(EventMachine) && EventMachine.respond_to?(:run)
  raise LoadError, "the gem eventmachine is loaded already: require pelton/eventmachine before anything that requires it " \
    "(ruby -r pelton/eventmachine)"
end

require_relative "../pelton"

module Pelton
  # The folder with a file for each that programs require of EventMachine.
  EVENTMACHINE_FILES = File.expand_path("../../eventmachine/lib", __dir__)
end
$LOAD_PATH.unshift(Pelton::EVENTMACHINE_FILES) unless $LOAD_PATH.include?(Pelton::EVENTMACHINE_FILES)

require_relative "eventmachine/constants"
require_relative "eventmachine/settings"
require_relative "eventmachine/reactor"
require_relative "eventmachine/ticks"
require_relative "eventmachine/timers"
require_relative "eventmachine/threadpool"
require_relative "eventmachine/callback"
require_relative "eventmachine/deferrable"
require_relative "eventmachine/completion"
require_relative "eventmachine/queue"
require_relative "eventmachine/channel"
require_relative "eventmachine/iterator"
require_relative "eventmachine/pool"
require_relative "eventmachine/spawnable"
require_relative "eventmachine/threaded_resource"
require_relative "eventmachine/buftok"
require_relative "eventmachine/transport"
require_relative "eventmachine/inactivity"
require_relative "eventmachine/stream_transport"
require_relative "eventmachine/acceptor"
require_relative "eventmachine/connection"
require_relative "eventmachine/connecting"
require_relative "eventmachine/signatures"
require_relative "eventmachine/readiness"
require_relative "eventmachine/watch_transport"
require_relative "eventmachine/watching"
require_relative "eventmachine/datagram_transport"
require_relative "eventmachine/processes"
require_relative "eventmachine/file_watch"
require_relative "eventmachine/process_watch"
require_relative "eventmachine/proxy"
require_relative "eventmachine/streamer"
require_relative "eventmachine/io_streamer"
require_relative "eventmachine/keepalive"
require_relative "eventmachine/tls"
require_relative "eventmachine/functions"
require_relative "eventmachine/protocols"
require_relative "eventmachine/dns"

# As everybody calls it.
EM = EventMachine unless defined?(EM)
