# frozen_string_literal: true

require_relative "script"

# For tests of HTTP clients: servers that are closed when the test ends, and what they answer.
module HTTPScripts
  def teardown
    @scripts&.each(&:close)
    super
  end

  def script(tls = nil, &answer)
    HTTPScript.new(tls, &answer).tap { |server| (@scripts ||= []) << server }
  end

  # A response with this body, and these lines between its status and its length.
  def ok(body = "", headers = "") = "HTTP/1.1 200 OK\r\n#{headers}Content-Length: #{body.bytesize}\r\n\r\n#{body}"
end
