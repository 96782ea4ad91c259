# frozen_string_literal: true

# The pages of the experiment "models" on bare Rack, with models of Sequel on Pelton's connections.
require "pelton/sequel"

Pelton::Sequel.connect(ENV.fetch("DATABASE"), pool: Integer(ENV.fetch("POOL")))
Sequel::Model.plugin :pelton

class User < Sequel::Model; end

class Note < Sequel::Model; end

PAGES = {
  "/users" => -> { User.limit(5).all.map(&:username).join("\n") },
  "/slow" => -> { User.with_sql(ENV.fetch("SLOW")).all.map(&:username).join("\n") },
  "/insert" => -> { Note.create(text: "hello").id.to_s }
}.freeze

run lambda { |env| [200, {"content-type" => "text/plain"}, [PAGES.fetch(env["PATH_INFO"]).call]] }
