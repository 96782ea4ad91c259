# frozen_string_literal: true

require_relative "test_helper"
require "pelton"

# The libraries' own tests are in test/integrations/.
class IntegrationsTest < PeltonTest
  def test_files_of_libraries_that_are_not_there_are_not_loaded
    assert_equal "[]\n", ruby_output(<<~RUBY)
      require "pelton/http"
      %i[server launcher].each { |moment| Pelton::Integrations.load(moment) }
      p $LOADED_FEATURES.grep(%r{pelton/integrations/})
    RUBY
  end

  def test_a_library_is_new_once
    assert_equal "[false, true, false]\n", ruby_output(<<~RUBY)
      require "pelton"
      loaded = [Pelton::Integrations.load(:launcher)]
      module I18n
        class Config
        end
      end
      p loaded + Array.new(2) { Pelton::Integrations.load(:launcher) }
    RUBY
  end

  def test_each_file_is_listed
    files = Dir[File.join(Children::LIB, "pelton/integrations/*.rb")].map { |file| File.basename(file, ".rb") }

    assert_equal files.sort, Pelton::Integrations::FILES.values.flat_map(&:values).sort
  end

  def test_a_library_that_runs_with_a_launcher
    assert_equal "begins\nends\n", ruby_output(<<~RUBY)
      require "pelton"
      Pelton::Integrations.on_launch { puts("begins").then { -> { puts "ends" } } }
      Pelton::Integrations.on_launch { nil }
      Pelton::Integrations.launch.each(&:call)
    RUBY
  end
end
