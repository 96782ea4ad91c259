# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"
require "pelton/sequel/text"

class DatabaseTextTest < PeltonTest
  def test_every_encoding_becomes_utf8
    text = "gr\u00fc\u00df"

    [text, text.b, text.encode("UTF-16LE"), text.encode("ISO-8859-1")].each do |one|
      assert_equal text, Pelton::Sequel::Text.utf8(one)
    end
    assert_equal Encoding::BINARY, text.b.tap { |binary| Pelton::Sequel::Text.utf8(binary) }.encoding
  end

  def test_literals_of_postgresql
    dataset =
      Sequel.mock(host: "postgres", keep_reference: false)
        .tap { |database| database.extend_datasets(Pelton::Sequel::Text::Postgres) }.dataset

    assert_equal ["'it''s \\'", "'\\x00ff'"],
      ["it's \\", Sequel.blob("\0\xff".b)].map { |value| dataset.literal(value) }
    assert_raises(Sequel::InvalidValue) { dataset.literal("a\0b") }
  end

  def test_literals_of_mysql
    dataset =
      Sequel.mock(host: "mysql", keep_reference: false)
        .tap { |database| database.extend_datasets(Pelton::Sequel::Text::MySQL) }.dataset

    assert_equal ["'it''s \\\\'", "'\u00fc'"], ["it's \\", "\u00fc".b].map { |value| dataset.literal(value) }
    assert_equal ["''''", "'\\\\'"], ["'", "\\"].map { |value| dataset.literal(value) }
  end

  def test_what_a_column_can_have
    {postgres: [false, false, true, true], mysql: [true, false, true, true],
     sqlite: [true, true, true, true]}.each do |host, expected|
      assert_equal expected, ["a\0b", "\xFF", "\u00fc".b, "a".encode("UTF-16LE")]
        .map { |text| Pelton::Sequel::Text.storable?(text, Sequel.mock(host: host, keep_reference: false)) }
    end
  end
end
