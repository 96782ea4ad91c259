# frozen_string_literal: true

# The same pages on pelton-web with models of ActiveRecord.
require "pelton/active_record"
require "pelton/web"

ActiveRecord::Base.establish_connection(
  "#{ENV.fetch("DATABASE")}?pool=#{ENV.fetch("POOL")}#{"&timeout=5000" if ENV["DATABASE"].start_with?("sqlite3:")}"
)

class User < ActiveRecord::Base; end

class Note < ActiveRecord::Base; end

class Application < Pelton::Web::Application
  settings.root = __dir__
  settings.secrets = [] # no sessions
  routes do
    get("/users") { User.limit(5).map(&:username).join("\n") }
    get("/slow") { User.find_by_sql(ENV.fetch("SLOW")).map(&:username).join("\n") }
    get("/insert") { Note.create!(text: "hello").id.to_s }
  end
end

use Pelton::ActiveRecord::ConnectionManagement
run Application.boot!
