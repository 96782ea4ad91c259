# frozen_string_literal: true

require "bigdecimal"
require "logger"
require "securerandom"
require_relative "sequel_databases"

# What keyset pages do on each database. The test says `address`, where the database is.
module KeysetBehaviours
  include SequelDatabases

  TIMES = ["2026-01-01 00:00:00.000001", "2026-01-01 00:00:00", "2026-10-25 01:30:00.123456"].map do |text|
    Time.parse("#{text} UTC")
  end

  def setup
    super
    @database = connect(address)
    real = {sqlite: :double, postgres: :real, mysql: :double}.fetch(@database.database_type)
    @database.create_table!(:things) do
      primary_key :id
      Integer :number, null: false
      Integer :rank
      String :name, size: 50
      column :at, Time, size: 6
      Date :on
      Float :double
      column :single, real
      BigDecimal :price, size: [12, 4]
      TrueClass :flag
    end
    @things = @database[:things]
    random = Random.new(7)
    rows = Array.new(40) do |index|
      {number: random.rand(4), rank: [nil, 1, 2].sample(random: random),
       name: [nil, "", "a", "B", "é", "'", "a "].sample(random: random), at: [nil, *TIMES].sample(random: random),
       on: [nil, Date.new(2026, 2, 28), Date.new(1, 1, 1)].sample(random: random),
       double: [nil, 0.1, 1e300, -2.5].sample(random: random), single: [nil, 0.1, 0.2].sample(random: random),
       price: [nil, BigDecimal("0.1"), BigDecimal("12345678.1234")].sample(random: random),
       flag: [nil, true, false].sample(random: random)}
    end
    @things.multi_insert(rows)
  end

  def test_every_order_gives_every_row_once_forwards_and_backwards
    columns = %i[number rank name at on double single price flag]
    orders = [[], [:id], [Sequel.desc(:id)]] + columns.flat_map { |name| [[name], [Sequel.desc(name)]] }
    orders += columns.each_cons(2).flat_map do |one, other|
      [[one, other], [Sequel.desc(one), other], [one, Sequel.desc(other)], [Sequel.desc(one), Sequel.desc(other)]]
    end
    orders += [[Sequel.asc(:rank, nulls: :first)], [Sequel.desc(:rank, nulls: :last)],
      [Sequel.asc(:name, nulls: :last), Sequel.desc(:rank, nulls: :first)]]
    orders << [:number, :rank, Sequel.desc(:name), Sequel.desc(:id)]
    orders.each { |order| assert_walks @things.order(*order) }
  end

  def test_the_database_s_own_order_is_kept
    [:rank, Sequel.desc(:rank), Sequel.asc(:rank, nulls: :first), Sequel.desc(:rank, nulls: :last)].each do |order|
      assert_equal @things.order(order).select_map(:rank),
        @things.order(order).pelton_page(per: 50).map { |row| row[:rank] }
    end
  end

  def test_models
    thing = model(:things)

    assert_walks thing.order(:at), &:pk
    assert_walks thing.where(rank: 1).order(Sequel.desc(:name)), &:pk
    assert_kind_of thing, thing.order(:at).pelton_page(per: 1).first
  end

  def test_conditions_joins_and_selections_stay
    assert_walks @things.where(rank: 1).order(:name)
    assert_walks @things.where(rank: 1).or(rank: nil).order(:name, Sequel.desc(:number))
    assert_walks @things.select(:id, :at).order(:at)
    other = @things.join(Sequel[:things].as(:other), id: Sequel[:things][:id]).select_all(:things)

    assert_walks other.order(Sequel[:things][:name])
    assert_equal @things.columns, @things.order(:at).pelton_page(per: 3).first.keys
  end

  def test_a_column_that_is_not_read_is_named
    page = @things.select(:id).order(:number).pelton_page(per: 1)

    assert_match(/ordered by number, which the next page needs: select it/,
      assert_raises(ArgumentError) { page.links }.message)
  end

  def test_the_key_alone_may_be_another
    skip "SQLite has no type uuid" if @database.database_type == :sqlite
    type = (@database.database_type == :postgres) ? :uuid : :"char(36)"
    @database.create_table!(:tickets) do
      column :key, type, primary_key: true
      Integer :rank
    end
    tickets = @database[:tickets]
    tickets.multi_insert(Array.new(12) { |index| {key: SecureRandom.uuid, rank: [nil, index % 2].sample} })

    assert_walks(tickets.order(:rank)) { |row| row[:key] }
    assert_walks(tickets) { |row| row[:key] }
  end

  def test_a_key_of_two_columns
    @database.create_table!(:seats) do
      Integer :line
      Integer :number
      String :taken_by, size: 50
      primary_key [:line, :number]
    end
    seats = @database[:seats]
    seats.multi_insert([1, 2, 3].product([1, 2, 3])
      .map { |line, number| {line: line, number: number, taken_by: (number == 2) ? "b" : "a"} })

    assert_walks(seats.order(:taken_by)) { |row| row.values_at(:line, :number) }
    assert_walks(seats.order(Sequel.desc(:number))) { |row| row.values_at(:line, :number) }
    assert_walks(model(:seats).order(:taken_by), &:pk)
  end

  def test_sqlite_s_times_of_several_forms
    skip "only SQLite compares times as texts" unless @database.database_type == :sqlite
    @things.delete
    ["2026-01-01 00:00:00", "2026-01-01 00:00:00.000000", "2026-01-01T00:00:00Z", "2026-01-01 00:00:00"].each do |text|
      3.times { @database.run("INSERT INTO things (number, at) VALUES (1, '#{text}')") }
    end

    assert_walks @things.order(:at)
    assert_walks @things.order(Sequel.desc(:at))
  end

  def test_the_condition_lets_an_index_find_the_beginning
    cursor = ->(*order) { @things.order(*order).pelton_page(per: 1).links[:next] }
    sql = ->(*order) { logged { @things.order(*order).pelton_page(**cursor.call(*order)).to_a }.last }
    tuple = @database.database_type != :mysql

    assert_match(tuple ? /\(.things.\..number., .things.\..id.\) > \(/ : /number. >= /, sql.call(:number))
    assert_match(/number. >= /, sql.call(:number, Sequel.desc(:id)))
    with_null_last = Sequel.asc(:rank, nulls: :last)
    _, there, null = logged do
      @things.order(with_null_last).pelton_page(per: 1).then do |page|
        @things.order(with_null_last).pelton_page(per: 50, **page.links[:next]).to_a
      end
    end

    refute_match(/ IS NULL/, there[/WHERE.*ORDER/], "no index finds a value or NULL")
    assert_match(/WHERE \(.things.\..rank. IS NULL\)/, null)
  end

  def test_orders_that_are_no_columns
    [Sequel.lit("LENGTH(name)"), Sequel.function(:lower, :name), Sequel[:others][:name], :nothing].each do |order|
      assert_match(/keyset pages are ordered by columns of .things., not by/,
        assert_raises(ArgumentError, order.inspect) { @things.order(order).pelton_page }.message)
    end
  end

  def test_types_that_cannot_be_found_again
    skip "of MariaDB" unless @database.database_type == :mysql
    @database.run("ALTER TABLE things ADD short FLOAT, ADD kind ENUM('z', 'a')")
    @database.schema(:things, reload: true)

    %i[short kind].each do |name|
      assert_match(/cannot be ordered by #{name}/,
        assert_raises(ArgumentError) { @things.order(name).pelton_page }.message)
    end
  end

  def test_a_cursor_that_was_changed_or_is_another_list_s
    by_number = @things.order(:number)
    cursor = by_number.pelton_page(per: 1).links[:next][:after]
    digest, *values = JSON.parse(cursor.tr("-_", "+/").unpack1("m"))

    assert_equal 1, by_number.pelton_page(after: write([digest, *values]), per: 1).size
    changed = ["", "x", "\0", "é", cursor[0..-3], "#{cursor}x", "x" * 20_000, :a, 7, {}, [],
      write([digest + 1, *values]), write([digest, values[0]]), write([digest, *values, 1]), write([]),
      write({}), write([digest, "1; DROP TABLE things", 1]), write([digest, nil, 1]), write([digest, 1.5, 1]),
      write([digest, 2**70, 1]), write([digest, {"a" => 1}, 1]), write([digest, [1], 1]),
      write([digest, true, 1]), @things.order(Sequel.desc(:number)).pelton_page(per: 1).links[:next][:after],
      @things.order(:number, :rank).pelton_page(per: 1).links[:next][:after]]
    changed.each do |one|
      assert_raises(Pelton::Sequel::InvalidCursor, one.inspect[0, 80]) { by_number.pelton_page(after: one) }
    end
  end

  def test_values_of_a_cursor_that_no_row_can_have
    forged = {at: "2026-13-01", on: "x", name: "a\0", price: "1e5", double: "1", flag: "t"}
    forged = forged.except(:at, :on) if @database.database_type == :sqlite # texts, there
    forged.each do |name, value|
      rows = @things.order(name)
      first, = JSON.parse(rows.pelton_page(per: 1).links[:next][:after].tr("-_", "+/").unpack1("m"))

      assert_raises(Pelton::Sequel::InvalidCursor, name) { rows.pelton_page(before: write([first, value, 1])) }
    end
  end

  private

  def model(table) = Class.new(Sequel::Model) { set_dataset(table) }

  def write(list) = [JSON.generate(list)].pack("m0").tr("+/", "-_").delete("=")

  # The queries that a block sends.
  def logged
    log = StringIO.new
    @database.loggers << (logger = Logger.new(log))
    yield
    log.string.lines.grep(/SELECT/)
  ensure
    @database.loggers.delete(logger)
  end

  def assert_walks(rows, &key)
    key ||= ->(row) { row[:id] }
    all = rows.all.map(&key)
    [1, 7].each do |per|
      pages = [rows.pelton_page(per: per)]
      while (on = pages.last.links[:next])
        pages << rows.pelton_page(per: per, **on)
        break if pages.size > 200
      end
      there = pages.flat_map { |page| page.map(&key) }

      assert_equal all.sort_by(&:to_s), there.sort_by(&:to_s), "#{rows.sql}, #{per} a page"
      back = [pages.last]
      while (prev = back.first.links[:prev])
        back.unshift(rows.pelton_page(per: per, **prev))
        break if back.size > 200
      end

      assert_equal there, back.flat_map { |page| page.map(&key) }, "#{rows.sql} backwards, #{per} a page"
      assert_equal there, rows.pelton_page(per: 100).map(&key), rows.sql
    end
  end
end
