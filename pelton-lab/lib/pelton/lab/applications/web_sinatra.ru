# frozen_string_literal: true

# A constant text on Sinatra.
require "sinatra/base"

class Text < Sinatra::Base
  set :host_authorization, {permitted_hosts: []}
  get("/") { "Hello World!" }
end

run Text
