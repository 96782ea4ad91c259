# frozen_string_literal: true

require_relative "test_helper"
require_relative "shared/stream_suite"

class StreamDirectTest < PeltonTest
  include StreamSuite
  include StreamSuite::Direct
end

class StreamBlockingTest < PeltonTest
  include StreamSuite
  include StreamSuite::Blocking
end

class StreamCallbackTest < PeltonTest
  include StreamSuite
  include StreamSuite::Callback
end

class StreamBlockingCallbackTest < PeltonTest
  include StreamSuite
  include StreamSuite::BlockingCallback
end
