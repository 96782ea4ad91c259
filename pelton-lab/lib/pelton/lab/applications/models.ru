# frozen_string_literal: true

# The pages of the experiment "models" on pelton-web, with models of Sequel on Pelton's connections.
require "pelton/sequel"
require "pelton/web"

Pelton::Sequel.connect(ENV.fetch("DATABASE"), pool: Integer(ENV.fetch("POOL")))
Sequel::Model.plugin :pelton

class User < Sequel::Model; end

class Note < Sequel::Model; end

class Application < Pelton::Web::Application
  settings.root = __dir__
  settings.secrets = [] # no sessions
  routes do
    get("/users") { User.limit(5).all.map(&:username).join("\n") }
    get("/slow") { User.with_sql(ENV.fetch("SLOW")).all.map(&:username).join("\n") }
    get("/insert") { Note.create(text: "hello").id.to_s }
  end
end

run Application.boot!
