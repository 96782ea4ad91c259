# frozen_string_literal: true

# ruby async_record_program.rb active_record|sequel DATABASE (an address; for active_record, a configuration in JSON):
# the page of the article "AsyncRecord: Non-blocking database access for Ruby" (2010). Serves its two controllers as
# they are printed there, and prints what they answer.

library, address = ARGV
if library == "active_record"
  require "pelton/active_record"
  require "json"
  ActiveRecord::Base.establish_connection(JSON.parse(address))
  create = ->(name) { ActiveRecord::Base.connection.create_table(name, force: true) { |table| table.string :username } }
else
  require "pelton/sequel"
  database = Pelton::Sequel.connect(address)
  create = lambda do |name|
    database.create_table!(name) do
      primary_key :id
      String :username
    end
  end
end
create.call(:users)

require "pelton/async_record"
require "pelton/web/fastr"

class User < AsyncRecord::Base
end
7.times { |number| User.create(username: "user #{number}") }

ApplicationController = Pelton::Web::Controller

# standard:disable all: they are quoted
module Rails
  class MainController < ApplicationController
    def index
      users = []

      User.all(:limit => 5).each do |user|
        users << user.username
      end

      headers['Content-Type'] = 'text/plain'
      render(:text => users.join("\n"))
    end
  end
end

class MainController < Fastr::Controller
  def index
    defer_response(200, {"Content-Type" => "text/plain"}) do |response|

      User.all(:limit => 5) do |users|
        users.each do |user|
          response.send_data("#{user.username}\n")
        end
        response.succeed
      end

    end
  end
end
# standard:enable all

application = Class.new(Pelton::Web::Application) do
  routes do
    get "/rails", to: "rails/main#index"
    get "/fastr", to: "main#index"
  end
end
application.boot!

Pelton.run do
  port = Pelton::HTTP::Server.new(application).listen("tcp://127.0.0.1:0").port
  %w[rails fastr].each do |name|
    response = Pelton::HTTP.get("http://127.0.0.1:#{port}/#{name}")
    puts [response.status, response["content-type"], response.body.inspect].join(" ")
  end
  Pelton.stop
end
