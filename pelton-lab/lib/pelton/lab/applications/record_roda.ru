# frozen_string_literal: true

# The same pages on Roda and Sequel, as their authors write it. Sequel's own extension keys its connections by fiber where the server has fibers.
require "json"
require "roda"
require "sequel"

Sequel.extension(:fiber_concurrency) if ENV["FIBERS"]
DB = Sequel.connect(ENV.fetch("DATABASE"), max_connections: Integer(ENV.fetch("POOL")))
if DB.database_type == :sqlite
  DB.run("PRAGMA journal_mode = WAL")
  DB.run("PRAGMA synchronous = NORMAL")
end

class User < Sequel::Model; end

class Note < Sequel::Model; end

class Pages < Roda
  route do |r|
    response["content-type"] = "text/plain"
    r.get("users") { User.limit(5).all.map(&:username).join("\n") }
    r.get("slow") { User.with_sql(ENV.fetch("SLOW")).all.map(&:username).join("\n") }
    r.get("row") { JSON.generate(User.with_pk!(rand(1..10_000)).values) }
    r.get("range") { JSON.generate(rand(1..9_000).then { |id| User.where(id: id...(id + 20)).all }.map(&:values)) }
    r.get("update") do
      DB.transaction { 5.times { User.where(id: rand(1..10_000)).update(visits: rand(1000)) } }
      "5"
    end
    r.get("insert") { Note.create(text: "hello").id.to_s }
  end
end

run Pages.freeze.app
