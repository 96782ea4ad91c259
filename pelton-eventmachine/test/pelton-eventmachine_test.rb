# frozen_string_literal: true

require "test_helper"
require "open3"

# The two ways to load it. No file of the real gem may be loaded.
class PeltonEventMachineTest < PeltonTest
  REQUIRED = %w[
    eventmachine rubyeventmachine fastfilereaderext em/version em/connection em/deferrable em/iterator em/streamer
    em/io_streamer
    em/protocols/linetext2 em/protocols/line_protocol em/buftok em/pure_ruby em/deferrable/pool
  ].freeze

  def test_files_that_are_required_afterwards_are_peltons
    assert_equal "true\n", ruby_output(<<~RUBY, *REQUIRED)
      require "pelton/eventmachine"
      ARGV.each { |file| require file }
      puts $LOADED_FEATURES.grep(/eventmachine-\\d|rubyeventmachine.so/), EM.equal?(EventMachine)
    RUBY
  end

  def test_the_gem_required_by_its_own_name
    assert_equal "true\n",
      ruby_output('require "pelton-eventmachine"; require "pelton/eventmachine"; puts EM.respond_to?(:run)')
  end

  # The gem's folder need not be on the load path, if the folder of the gem pelton is.
  def test_required_by_its_path
    program = "EM.run { EM.next_tick { require %(em/version); puts EM::P::LineText2, EM.stop.inspect } }"
    output, status = Open3.capture2e(child_environment, RbConfig.ruby, "--disable=gems", "-I#{Children::LIB}",
      "-r#{ROOT}/pelton-eventmachine/lib/pelton-eventmachine.rb", "-e", program)

    assert status.success?, output
  end

  def test_the_file_of_the_gem_pelton_required_by_its_path
    program = "EM.run { EM.next_tick { puts EM::P::Memcache, EM::HttpServer, EM.stop.inspect } }"
    output, status = Open3.capture2e(child_environment, RbConfig.ruby, "--disable=gems",
      "-r#{Children::LIB}/pelton/eventmachine.rb", "-e", program)

    assert status.success?, output
  end

  def test_the_folder_eventmachine_is_the_other_way
    assert_equal "ran\n", ruby_output(<<~RUBY, File.join(ROOT, "eventmachine/eventmachine.gemspec"))
      require "rubygems"
      folders = Gem::Specification.load(ARGV[0]).require_paths
      $LOAD_PATH.unshift(*folders.map { |folder| File.expand_path(folder, File.dirname(ARGV[0])) })
      require "eventmachine"
      EM.run { EM.next_tick { puts "ran"; EM.stop } }
    RUBY
  end

  def test_it_refuses_to_load_beside_the_real_gem
    _, errors, status = run_ruby(<<~RUBY)
      module EventMachine; def self.run; end; end
      require "pelton/eventmachine"
    RUBY

    refute_predicate status, :success?
    assert_match(/loaded already/, errors)
  end

  def test_another_gem_may_have_opened_the_module_before
    assert_equal "true\n", ruby_output(<<~RUBY)
      module EventMachine; module Foo; end; end
      EM = EventMachine
      require "pelton/eventmachine"
      puts EM.respond_to?(:run)
    RUBY
  end
end
