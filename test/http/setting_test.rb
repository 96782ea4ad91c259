# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http/setting"

class HTTPSettingTest < PeltonTest
  def setting(kind, default = nil, name: :some_setting, **options)
    Pelton::HTTP::Setting.new(name, kind, default, "does something", taken_by: :program, **options)
  end

  def refusal(kind, value, **options)
    assert_raises(ArgumentError) { setting(kind, **options).convert(value) }.message
  end

  def test_names
    one = setting(:seconds, short: "-s")

    assert_equal "PELTON_SOME_SETTING", one.variable
    assert_equal ["-s", "--some-setting SECONDS"], one.flags
    assert_equal ["--[no-]some-setting"], setting(:switch).flags
  end

  def test_the_option_that_takes_it
    assert_equal :some_setting, setting(:text).option
    assert_equal :other, setting(:text, option: :other).option
  end

  def test_defaults_for_readers
    {[:seconds, 30] => "30 s", [:bytes, 8192] => "8 KB", [:bytes, 10] => "10 bytes", [:number, 10_000] => "10,000",
     [:text, "a"] => "a",
     [:switch, false] => "off", [:switch, true] => "on", [:bytes, nil] => "none"}.each do |(kind, default), shown|
      assert_equal shown, setting(kind, default).shown_default
    end
  end

  def test_values
    {[:seconds, "1.5"] => 1.5, [:seconds, 2] => 2, [:count, "3"] => 3, [:bytes, "64M"] => 64 << 20,
     [:bytes, "2kb"] => 2048, [:bytes, 5] => 5,
     [:switch, "ON"] => true, [:switch, "0"] => false, [:switch, true] => true, [:path, "/up"] => "/up",
     [:text, "a"] => "a",
     [:topics, "postgres://h/d"] => "postgres://h/d"}.each do |(kind, value), converted|
      assert_equal converted, setting(kind).convert(value), [kind, value].inspect
    end
  end

  def test_nil_is_no_limit
    %i[seconds number bytes].each { |kind| assert_nil setting(kind).convert(nil), kind }
    assert_equal "some_setting: must be an integer of 0 or more, not nil", refusal(:count, nil)
  end

  def test_values_that_it_does_not_take
    {[:seconds, -1] => "a number of 0 or more, not -1", [:seconds, :soon] => "a number of 0 or more, not :soon",
     [:count, 1.5] => "an integer",
     [:bytes, "1T"] => "such as 64M", [:number, "1K"] => "a number", [:switch, "perhaps"] => "true or false",
     [:switch, 3] => "true or false",
     [:path, "up"] => "a path such as /up"}.each do |(kind, value), text|
      assert_includes refusal(kind, value), "some_setting: must be #{text}" if kind != :bytes
      assert_includes refusal(kind, value), text
    end
  end

  def test_choices
    one = setting(:text, choices: %w[common json])

    assert_equal "json", one.convert(:json)
    assert_equal "some_setting: must be common or json, not \"other\"",
      refusal(:text, "other", choices: %w[common json])
  end

  # An address may have a password.
  def test_an_address_of_topics_is_not_shown
    refute_includes refusal(:topics, "mysql://root:secret@host"), "secret"
  end
end
