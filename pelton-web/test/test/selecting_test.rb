# frozen_string_literal: true

require "test_helper"
require "pelton/web/test"

# What it finds is in test/downstream/: it needs the gem nokogiri.
class WebTestSelectingTest < PeltonTest
  def test_the_gem_is_named_where_it_is_missing
    output = ruby_output(<<~RUBY, gems: true)
      require "pelton/web/test"
      module Kernel
        alias_method :required, :require
        def require(name) = (name == "nokogiri") ? raise(LoadError, "cannot load such file -- nokogiri") : required(name)
      end
      include Pelton::Web::Test
      begin
        css_select("p")
      rescue Pelton::Web::ConfigurationError => error
        puts error.message
      end
    RUBY

    assert_match(/add gem "nokogiri" to the Gemfile's group :test/, output)
  end
end
