# frozen_string_literal: true

# The same pages by callbacks, on Thin: mysql2's client for EventMachine, in a pool as its users write one. It waits beside the loop, as the
# article's em-mysql did.
require "json"
require "mysql2/em"
require "uri"

class Clients
  def initialize(address, size)
    @options = {host: address.host, port: address.port, username: address.user, database: address.path.delete_prefix("/")}
    @idle = []
    @waiting = []
    @left = size
  end

  def take(&block)
    client = @idle.pop || open
    client ? block.call(client) : @waiting << block
  end

  def give(client)
    block = @waiting.shift
    block ? block.call(client) : @idle << client
  end

  def rows(sql, failed)
    take do |client|
      query = client.query(sql)
      query.callback do |rows|
        rows = rows.to_a
        give(client)
        yield rows
      end
      query.errback(&failed)
    end
  end

  # Statements one after the other, on one client.
  def each(statements, failed, &done)
    take { |client| step(client, statements.dup, failed, done) }
  end

  private

  def open
    return if @left.zero?
    @left -= 1
    Mysql2::EM::Client.new(@options)
  end

  def step(client, statements, failed, done)
    if statements.empty?
      give(client)
      return done.call
    end
    query = client.query(statements.shift)
    query.callback { step(client, statements, failed, done) }
    query.errback(&failed)
  end
end

CLIENTS = Clients.new(URI(ENV.fetch("DATABASE")), Integer(ENV.fetch("POOL")))
PAGES = {
  "/users" => ->(failed, answer) { CLIENTS.rows("SELECT * FROM users LIMIT 5", failed) { |rows| answer.call(rows.map { |row| row["username"] }.join("\n")) } },
  "/slow" => ->(failed, answer) { CLIENTS.rows(ENV.fetch("SLOW"), failed) { |rows| answer.call(rows.map { |row| row["username"] }.join("\n")) } },
  "/row" => ->(failed, answer) { CLIENTS.rows("SELECT * FROM users WHERE id = #{rand(1..10_000)}", failed) { |rows| answer.call(JSON.generate(rows.first)) } },
  "/range" => lambda do |failed, answer|
    id = rand(1..9_000)
    CLIENTS.rows("SELECT * FROM users WHERE id >= #{id} AND id < #{id + 20}", failed) { |rows| answer.call(JSON.generate(rows)) }
  end,
  "/update" => lambda do |failed, answer|
    updates = Array.new(5) { "UPDATE users SET visits = #{rand(1000)} WHERE id = #{rand(1..10_000)}" }
    CLIENTS.each(["BEGIN", *updates, "COMMIT"], failed) { answer.call("5") }
  end,
  "/insert" => lambda do |failed, answer|
    CLIENTS.take do |client|
      query = client.query("INSERT INTO notes (text) VALUES ('hello')")
      query.callback do
        id = client.last_id
        CLIENTS.give(client)
        answer.call(id.to_s)
      end
      query.errback(&failed)
    end
  end
}.freeze

run lambda { |env|
  respond = ->(status, body) { env["async.callback"].call([status, {"Content-Type" => "text/plain", "Content-Length" => body.bytesize.to_s}, [body]]) } # Thin keeps a connection whose length it knows
  PAGES.fetch(env["PATH_INFO"]).call(->(error) { respond.call(500, error.to_s) }, ->(body) { respond.call(200, body) })
  throw :async
}
