# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"
require_relative "../../rakelib/settings/files"

# The files that are made from the table of settings.
class RepositorySettingsTest < PeltonTest
  def test_they_say_what_the_table_says
    Dir.chdir("#{__dir__}/../..") do
      SettingsFiles.texts.each do |path, text|
        assert_equal text, File.read(path), "#{path}: run `bundle exec rake settings`"
      end
    end
  end
end
