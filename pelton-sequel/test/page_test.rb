# frozen_string_literal: true

require_relative "support/sequel_databases"

class SequelPageTest < PeltonTest
  include SequelDatabases

  def setup
    @database = connect
    @database.create_table(:tags) do
      primary_key :id
      String :name
    end
    @database[:tags].import([:name], %w[0 1 2 3 4].zip)
    @tags = @database[:tags].order(:name)
  end

  def test_links
    first = page
    second = page(**first.links[:next])
    third = page(**second.links[:next])

    assert_equal [%w[0 1], %w[2 3], %w[4]], [first, second, third].map { |one| names(one) }
    assert_equal [%i[first next], %i[first prev next], %i[first prev]],
      [first, second, third].map { |one| one.links.keys }
    back = page(**third.links[:prev])

    assert_equal %w[2 3], names(back)
    assert_equal %i[first prev next], back.links.keys
    assert_equal [%w[0 1], %i[first next]], page(**back.links[:prev]).then { |one| [names(one), one.links.keys] }
  end

  def test_rows_that_come_and_go_move_nothing
    first = page
    cursor = first.links[:next]
    @tags.insert(name: "00")
    @tags.where(id: first.to_a.last[:id]).delete

    assert_equal %w[2 3], names(page(**cursor))
    assert_equal({first: {}}, @tags.where(id: -1).pelton_page(**cursor).links)
  end

  def test_it_is_one_query_on_first_use
    page
    assert_equal 0, queries { page }
    assert_equal 1, queries { page.then { |one| [one.to_a, one.links, one.size] } }
  end

  def test_it_is_a_list
    one = page

    assert_equal 2, one.size, "size"
    assert_equal 2, one.length, "length"
    assert_equal "0", one.first[:name]
    refute_empty one
    assert_equal %w[0 1], one.each.map { |row| row[:name] }
    assert_equal 2, one.limit, "limit"
    assert_equal [["0", 0], ["1", 1]], page.each_with_index.map { |row, index| [row[:name], index] }
    assert_equal [nil, nil, nil], page.then { |one| [one.number, one.total, one.pages] }
    assert_equal [1, 2], [*page].map { |row| row[:id] }
  end

  def test_json
    require "json"

    assert_equal [{"id" => 1, "name" => "0"}], JSON.parse(@tags.pelton_page(per: 1).to_json)
  end

  def test_what_has_no_pages
    {@tags.limit(5) => /has a limit/, @tags.offset(5) => /has a limit/, @tags.select_group(:name) => /groups/,
     @tags.union(@tags) => /not of another query's|groups/,
     @database.fetch("SELECT * FROM tags") => /SQL text/,
     @tags.from_self => /of a table's rows/}.each do |dataset, message|
      assert_match message, assert_raises(ArgumentError, dataset.sql) { dataset.pelton_page }.message
    end
    @database.create_table(:keyless) { Integer :n }

    assert_match(/`keyless` has no primary key/,
      assert_raises(ArgumentError) { @database[:keyless].pelton_page }.message)
  end

  def test_mistakes
    [0, -1, "5", nil].each do |per|
      assert_match(/per is an Integer from 1 on/, assert_raises(ArgumentError) { @tags.pelton_page(per: per) }.message)
    end
    cursor = page.links[:next][:after]

    assert_match(/not both/, assert_raises(ArgumentError) { page(after: cursor, before: cursor) }.message)
  end

  def test_a_bad_cursor_is_the_client_s_mistake
    error = assert_raises(Pelton::Sequel::InvalidCursor) { page(after: "x") }

    assert_equal 400, error.status
    assert_equal 400, error.web_status
  end

  private

  def page(**cursor) = @tags.pelton_page(per: 2, **cursor)

  def names(page) = page.map { |row| row[:name] }
end
