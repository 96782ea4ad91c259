# frozen_string_literal: true

# The same pages on Roda and Sequel, as their authors write it.
require "roda"
require "sequel"

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
    r.get("insert") { Note.create(text: "hello").id.to_s }
  end
end

run Pages.freeze.app
