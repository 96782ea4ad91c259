# frozen_string_literal: true

require_relative "sequel_databases"

# What each line of pelton-sequel does by itself, in a program with plain Sequel. A test says `options`: Sequel's of
# the database.
module Alone
  include SequelDatabases

  # The beginning of each program. Fibers of `at_once` begin in the same turn of the loop.
  BEGINNING = <<~RUBY
    require "pelton"
    require "sequel"
    require "logger"
    require "stringio"
    Sequel.extension(:fiber_concurrency)
    DB = Sequel.connect(**eval(ARGV[0]), max_connections: 3)
    DB.loggers << Logger.new(LOG = StringIO.new)
    def queries
      LOG.truncate(LOG.pos = 0)
      yield
      LOG.string.lines.grep(/SELECT .*FROM .?(albums|artists)/).size
    end
    def at_once(values, &block) = Pelton.run { values.map { |value| Pelton.spawn { block.call(value) } }.map(&:await) }
    %i[albums artists].each { |name| DB.drop_table?(name) }
    DB.create_table(:artists) { primary_key :id; String :name, size: 50, unique: true }
    DB.create_table(:albums) { primary_key :id; Integer :artist_id; String :name, size: 50 }
    DB[:artists].import(%i[id name], [[1, "Ann"], [2, "Bob"]])
    DB[:albums].import(%i[id artist_id name], [[1, 1, "One"], [2, 2, "Two"], [3, 1, "Three"]])
  RUBY

  def test_the_pool
    assert_equal "pelton\n[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\nPelton::Sequel::PoolTimeoutError\nPelton::TimeoutError\n2\n" \
      "1\n", program(<<~RUBY)
        DB.extension(:pelton_pool)
        puts DB.pool.pool_type
        p at_once([1] * 10) { |one| DB[:artists].where(id: one).get(:id).to_i }
        hasty = Sequel.connect(**eval(ARGV[0]), max_connections: 3, pool_timeout: 0.1).extension(:pelton_pool)
        Pelton.run do
          done = Pelton::Operation.new
          holders = Array.new(hasty.pool.max_size) { Pelton.spawn { hasty.synchronize { done.await } } }
          sleep 0
          hasty.synchronize {}
        rescue => error
          puts error.class
          done.succeed
          holders.each(&:await)
          begin
            Pelton.timeout(0.05) { DB.transaction { DB[:artists].insert(id: 9, name: "Cid"); sleep } }
          rescue => error
            puts error.class
          end
          puts DB[:artists].count
        end
        puts DB.get(1)
      RUBY
  end

  def test_statistics
    assert_equal "3\n[Sequel::DatabaseError, true]\n", program(<<~RUBY)
      DB.extension(:pelton_statistics)
      seen = []
      Pelton::Notifications.subscribe("query.sequel") do |event|
        seen << [!event.error.nil?, event.duration.is_a?(Float)]
      end
      # all connections are open, and the server's version is known
      at_once([1, 2, 3]) { DB.synchronize { sleep 0.01 } && DB[:artists].single_record }
      before = DB.stats[:queries]
      at_once([1, 2, 3]) { |id| DB[:artists].where(id: id).single_record }
      puts DB.stats[:queries] - before
      begin
        DB.run("SELEKT")
      rescue Sequel::DatabaseError => error
        p [error.class, seen.last == [true, true] && DB.stats[:errors] == 1]
      end
    RUBY
  end

  def test_merging
    assert_equal "[1, 1, 1, 2, 2, 2]\n[\"Ann\", \"Bob\", nil]\n", program(<<~RUBY)
      class Artist < Sequel::Model; plugin :pelton_merging; end
      class Album < Sequel::Model; plugin :pelton_merging; many_to_one :artist; end
      Artist.first(name: "Ann")
      Artist.unique_columns
      found = nil
      counts = [
        queries { at_once([1, 2]) { |id| Artist[id] } },
        queries { found = at_once(["Ann", "Bob", "nobody"]) { |name| Artist.first(name: name)&.name } } - 1
      ]
      counts << queries { at_once(Album.order(:id).all.first(2)) { |album| album.artist.name } } - 1
      counts << queries { at_once([1, 2]) { |id| DB.transaction { Artist[id] } } }
      counts << queries { at_once([1, 2]) { |id| Artist.without_merging { Artist[id] } } }
      Artist.merge_finds = false
      counts << queries { at_once([1, 2]) { |id| Artist.with_pk!(id) } }
      p counts
      p found
    RUBY
  end

  def test_loading_together
    assert_equal "[2, 2]\n[\"Ann\", \"Bob\", \"Ann\"]\n", program(<<~RUBY)
      class Artist < Sequel::Model; plugin :pelton_together; one_to_many :albums; end
      class Album < Sequel::Model; plugin :pelton_together; many_to_one :artist; end
      [Artist, Album].each(&:columns)
      names = nil
      p [
        queries { Artist.order(:id).all.each { |artist| artist.albums.size } },
        queries { names = Pelton.run { Pelton.map(Album.order(:id).all) { |album| album.artist.name } } }
      ]
      p names
    RUBY
  end

  private

  def program(code) = ruby_output(BEGINNING + code, options.inspect, gems: true)
end
