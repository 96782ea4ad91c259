# The first server of "Ruby EventMachine - The Speed Demon" by Ilya Grigorik, 27 May 2008
# (https://www.igvita.com/2008/05/27/ruby-eventmachine-the-speed-demon/), as printed.
#
#     ruby -r pelton/eventmachine 001_blocking.rb

require 'rubygems'
require 'eventmachine'
require 'evma_httpserver'

class Handler  < EventMachine::Connection
  include EventMachine::HttpServer

  def process_http_request
    resp = EventMachine::DelegatedHttpResponse.new( self )

    sleep 2 # Simulate a long running request

    resp.status = 200
    resp.content = "Hello World!"
    resp.send_response
  end
end

EventMachine::run {
  EventMachine::start_server("0.0.0.0", 8080, Handler)
  puts "Listening..."
}
