# frozen_string_literal: true

# How long one statement of SQLite's keeps the loop: statements of many kinds, each beside a fiber that lets the loop turn again and
# again. Printed is the most CPU time of the loop's thread between two turns.
#
#   bundle exec ruby -Ilib -Ipelton-record/lib benchmark/record_sqlite_turns.rb     (ROWS=200000)

require "tmpdir"
require "pelton/record"

ROWS = Integer(ENV.fetch("ROWS", "200000"))
STATEMENTS = {
  "a recursive query" => "SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000000) SELECT x FROM c)",
  "count(*)" => "SELECT count(*) FROM texts", "sum" => "SELECT sum(number) FROM texts", "a sort" => "SELECT text FROM texts ORDER BY text",
  "groups" => "SELECT text, count(*) FROM texts GROUP BY text HAVING count(*) > 1000", "distinct" => "SELECT count(DISTINCT text) FROM texts",
  "a window" => "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY text) AS r FROM texts)", "group_concat" => "SELECT length(group_concat(text)) FROM texts",
  "JSON of 50 KB" => "SELECT sum(json_extract(text, '$.k3999')) FROM documents", "LIKE on 50 KB" => "SELECT count(*) FROM documents WHERE text LIKE '%zzz%'",
  "an index" => "CREATE INDEX by_text ON texts (text)", "an update of all" => "UPDATE texts SET number = number + 1", "a deletion of all" => "DELETE FROM texts"
}.freeze

def processor_time = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :float_millisecond)

def fill(database)
  database.create_table(:texts) { primary_key(:id).then { Integer :number }.then { String :text } }
  database.create_table(:documents) { String :text }
  document = "{#{(1..4000).map { |i| %("k#{i}":#{i}) }.join(",")}}"
  database.transaction do
    (1..ROWS).each_slice(5000) { |ids| database[:texts].import(%i[number text], ids.map { [rand(1 << 30), "text #{rand(1 << 30)}" * 3] }) }
    500.times { database[:documents].insert(text: document) }
  end
end

# @return [Array(Float, Integer, Float)] milliseconds of CPU time, turns, and the longest one
def watch
  turns = []
  watcher = Pelton.spawn { loop { processor_time.then { |start| sleep(0) && turns << processor_time - start } } }
  sleep 0.005
  turns.clear
  start = processor_time
  yield
  total = processor_time - start
  sleep 0
  [total, turns.size, turns.max]
ensure
  watcher.cancel
end

Dir.mktmpdir("pelton-benchmark-") do |folder|
  Pelton.run do
    database = Pelton::Record.connect("sqlite://#{folder}/texts.db")
    fill(database)
    STATEMENTS.each do |name, sql|
      puts format("%-18s %6.1f ms of CPU, %4d turns, the longest %5.1f ms", name, *watch { sql.start_with?("SELECT") ? database.fetch(sql).all : database.run(sql) })
    end
  end
  Pelton::Record.disconnect
end
