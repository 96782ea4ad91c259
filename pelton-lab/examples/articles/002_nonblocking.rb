# The nonblocking server of "Nonblocking IO", 11 December 2010 (https://github.com/threez/memcache-broker), as printed
# but for the variable: Ruby 3 forbids class variables (it was @@memcache) outside of a class. The article shows the
# parts; the first lines make a program of them.
#
#     ruby -r pelton/eventmachine 002_nonblocking.rb -p 4567

require "thin"
require "sinatra"

set :server, "thin"

AsyncResponse = [-1, {}, []].freeze

def memcache
  $memcache ||= EM::P::Memcache.connect 'localhost', 11211
end

get "/:name" do
  name = params[:name].to_sym
  EventMachine.next_tick do
    memcache.get(name) do |value|
      env['async.callback'].call [200, {}, [value]]
    end
  end
  AsyncResponse
end
