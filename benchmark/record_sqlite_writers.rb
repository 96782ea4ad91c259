# frozen_string_literal: true

# The tail of writes to SQLite: 50 fibers of one process create a row each, again and again. Printed are the latencies by the wall clock
# and by the CPU time of the loop's thread (there other programs on the machine do not count), from the second second on; the garbage
# collections; and the size of the write-ahead log at the end.
#
#   bundle exec ruby -Ilib -Ipelton-record/lib benchmark/record_sqlite_writers.rb     (ROUNDS=3 SECONDS=6 FIBERS=50)

require "tmpdir"
require "pelton/record"

ROUNDS = Integer(ENV.fetch("ROUNDS", "3"))
SECONDS = Integer(ENV.fetch("SECONDS", "6"))
FIBERS = Integer(ENV.fetch("FIBERS", "50"))

class Post < Pelton::Record::Model; end

def clocks = [Process::CLOCK_MONOTONIC, Process::CLOCK_THREAD_CPUTIME_ID].map { |clock| Process.clock_gettime(clock, :float_millisecond) }

def percentile(values, part) = values.sort[((values.size - 1) * part).floor]

ROUNDS.times do
  Dir.mktmpdir("pelton-benchmark-") do |folder|
    Pelton.run do
      database = Pelton::Record.connect("sqlite://#{folder}/posts.db")
      database.create_table(:posts) { primary_key(:id).then { String :title }.then { String :body } }
      Post.dataset
      latencies = []
      begin_at = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      collections = GC.stat.values_at(:count, :major_gc_count)
      elapsed = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) - begin_at }
      posts = Array.new(FIBERS) do
        Pelton.spawn do
          count = 0
          while elapsed.call < SECONDS
            start = clocks
            sleep 0 # the other requests
            Post.create!(title: "hello", body: "x" * 100)
            count += 1
            latencies << clocks.zip(start).map { |now, before| now - before } if elapsed.call > 1
          end
          count
        end
      end.sum(&:await)
      abort "rows are missing" unless Post.count == posts
      wall, cpu = latencies.transpose
      minor, major = GC.stat.values_at(:count, :major_gc_count).zip(collections).map { |now, before| now - before }.then { |all, majors| [all - majors, majors] }
      puts format("%5.0f posts/s  p50 %.1f ms  p99 %.1f ms (%.1f times)  CPU: p50 %.1f ms  p99 %.1f ms (%.1f times)  %d minor collections, %d major ones  log %.1f MB", posts.fdiv(SECONDS),
        *[wall, cpu].flat_map { |of| [0.5, 0.99].map { |part| percentile(of, part) }.then { |half, most| [half, most, most / half] } }, minor, major, File.size("#{folder}/posts.db-wal") / 1e6)
    end
    Pelton::Record.disconnect
  end
end
