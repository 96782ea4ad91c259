# frozen_string_literal: true

# The pages of the experiment "record" on bare Rack, with models of Pelton::Record.
require "json"
require "pelton/record"

Pelton::Record.connect(ENV.fetch("DATABASE"), pool: Integer(ENV.fetch("POOL")))

class User < Pelton::Record::Model; end

class Note < Pelton::Record::Model; end

PAGES = {
  "/users" => -> { User.limit(5).map(&:username).join("\n") },
  "/slow" => -> { User.with_sql(ENV.fetch("SLOW")).all.map(&:username).join("\n") },
  "/row" => -> { JSON.generate(User.find(rand(1..10_000)).values) },
  "/range" => -> { JSON.generate(rand(1..9_000).then { |id| User.where(id: id...(id + 20)).all }.map(&:values)) },
  "/update" => lambda do
    Pelton::Record.database.transaction do
      5.times { User.where(id: rand(1..10_000)).update_all(visits: rand(1000)) }
    end
    "5"
  end,
  "/insert" => -> { Note.create!(text: "hello").id.to_s }
}.freeze

run lambda { |env| [200, {"content-type" => "text/plain"}, [PAGES.fetch(env["PATH_INFO"]).call]] }
