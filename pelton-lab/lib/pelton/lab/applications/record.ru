# frozen_string_literal: true

# The pages of the experiment "record" on bare Rack, with models of Pelton::Record.
require "pelton/record"

Pelton::Record.connect(ENV.fetch("DATABASE"), pool: Integer(ENV.fetch("POOL")))

class User < Pelton::Record::Model; end

class Note < Pelton::Record::Model; end

PAGES = {
  "/users" => -> { User.limit(5).map(&:username).join("\n") },
  "/slow" => -> { User.with_sql(ENV.fetch("SLOW")).all.map(&:username).join("\n") },
  "/insert" => -> { Note.create!(text: "hello").id.to_s }
}.freeze

run lambda { |env| [200, {"content-type" => "text/plain"}, [PAGES.fetch(env["PATH_INFO"]).call]] }
