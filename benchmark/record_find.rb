# frozen_string_literal: true

# A find by primary key, one at a time: a model of Pelton::Record on one fiber of a reactor beside a Sequel::Model that blocks, by the
# same driver on the same database. The rounds of both alternate; printed are medians of a find's wall-clock and CPU time, and their ratios.
#
#   bundle exec ruby -Ilib benchmark/record_find.rb     (ROUNDS=15 FINDS=2000 ONLY=sqlite; PostgreSQL and MariaDB where they are installed)

require "tmpdir"
require_relative "support/record_databases"
require_relative "support/measuring"

ROUNDS = Integer(ENV.fetch("ROUNDS", "15"))
FINDS = Integer(ENV.fetch("FINDS", "2000"))
ROWS = 1000

# Sequel's adapters for the same drivers.
SEQUEL = {"sqlite" => "extralite", "postgres" => "postgres", "mariadb" => "trilogy"}.freeze

# A table of numbers and texts, and one with types that the driver must convert (extralite's own adapter leaves them as SQLite has them).
TABLES = {
  names: [->(_) { String :username; Integer :visits, default: 0 }, ->(id) { {username: "user #{id}", visits: id} }], # standard:disable Style/Semicolon
  orders: [
    lambda { |_|
      String :customer
      TrueClass :paid
      BigDecimal :price, size: [10, 2]
      Float :weight
      DateTime :created_at
    },
    ->(id) { {customer: "user #{id}", paid: id.odd?, price: BigDecimal("1.25"), weight: 0.5, created_at: Time.at(1_700_000_000 + id)} }
  ]
}.freeze

def fill(database)
  TABLES.each do |name, (columns, row)|
    database.create_table!(name) do
      primary_key :id
      instance_exec(nil, &columns)
    end
    database[name].multi_insert((1..ROWS).map(&row))
  end
end

def finds(model, method)
  FINDS.times { |i| model.public_send(method, 1 + i * 7 % ROWS) }
end

def race(title, sequel, record, row)
  [1, ROWS / 2, ROWS].each do |id|
    expected = {id: id, **row.call(id)}
    got = Pelton.run { record.find(id).values }
    abort "#{title}: #{got} instead of #{expected}" unless got == expected && sequel.with_pk!(id).id == id
  end
  times = {sequel: [], record: []}
  (ROUNDS + 1).times do |round| # the first one warms up
    GC.start
    alone = wall_and_processor_time { finds(sequel, :with_pk!) }
    GC.start
    beside = Pelton.run { wall_and_processor_time { finds(record, :find) } }
    next if round.zero?
    times[:sequel] << alone
    times[:record] << beside
  end
  wall, cpu = times.transform_values(&:transpose).then { |both| [0, 1].map { |i| both.transform_values { |of| median(of[i]) * 1e6 / FINDS } } }
  puts format("%-20s Sequel %6.1f us, CPU %6.1f us   Record %6.1f us, CPU %6.1f us   ratio %.2f, CPU %.2f", title, wall[:sequel], cpu[:sequel],
    wall[:record], cpu[:record], wall[:record] / wall[:sequel], cpu[:record] / cpu[:sequel])
end

RecordDatabases.each(ENV["ONLY"]) do |name, address|
  alone = Sequel.connect(address.sub(/\A\w+:/, "#{SEQUEL.fetch(name)}:"), keep_reference: false)
  fill(alone)
  Pelton.run { Pelton::Record.connect(address) }
  TABLES.each do |table, (_, row)|
    record = Class.new(Pelton::Record::Model) { self.table_name = table }
    race("#{name}, #{table}", Class.new(Sequel::Model(alone[table])), record, row)
  end
  Pelton.run { Pelton::Record.disconnect }
  alone.disconnect
end
