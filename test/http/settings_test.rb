# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"

class HTTPSettingsTest < PeltonTest
  SETTINGS = Pelton::HTTP::SETTINGS

  def test_each_has_a_name_and_a_flag_of_its_own
    assert_empty SETTINGS.map(&:name).tally.select { |_, count| count > 1 }
    assert_empty SETTINGS.flat_map { |setting| setting.flags.map { |flag| flag[/\A\S+/] } }.tally
      .select { |_, count| count > 1 }
  end

  def test_each_takes_its_own_default
    SETTINGS.each do |setting|
      next if setting.default.nil?

      assert_equal setting.default, setting.convert(setting.default), setting.name
    end
  end

  def test_the_servers_options_are_the_tables
    names = SETTINGS.select { |setting| setting.taken_by == :server }.map(&:name)

    assert_equal names, Pelton::HTTP::Server::DEFAULTS.keys
  end
end
