# frozen_string_literal: true

require_relative "../../test_helper"
require "fileutils"
require "tmpdir"
require_relative "../../../rakelib/mutations/source"

# In a tree of empty files.
class MutatedSourceTest < PeltonTest
  FILES = %w[
    ext/pelton/core/http1/parser.c test/core/http1/test_parser.c test/core/http1/test_parser_malformed.c
    test/core/http1/test_head.c test/core/loop/test_loop.c ext/pelton/ruby/http/parser_class.c
    test/http/parser_test.rb test/http/server/job_test.rb test/http_test.rb test/rackup/handler_test.rb
    ext/pelton/ruby/reactor/tick.c ext/pelton/ruby/reactor/timer_class.c test/reactor/park_test.rb
    test/waiting/timer_test.rb lib/pelton/waiting/timer.rb
    lib/pelton/http/server.rb lib/pelton/version.rb lib/rackup/handler.rb test/integration/timer_test.rb
    test/repository/timer_test.rb pelton-web/lib/pelton/web/routes/tree.rb pelton-web/test/routes/tree_test.rb
    pelton-web/test/tree_test.rb pelton-sequel/lib/sequel/plugins/a.rb pelton-sequel/test/plugins/a_test.rb
    pelton-rails/lib/pelton/active_record/setup.rb pelton-rails/test/downstream/active_record/setup_test.rb
    pelton-rails/test/notifications_test.rb pelton-lab/lib/pelton/lab/experiments/hello.rb
    lib/pelton/integrations/a.rb test/integrations_test.rb test/downstream/integrations/a_test.rb
  ].freeze

  def setup
    super
    @root = Dir.mktmpdir
    FILES.each do |file|
      FileUtils.mkdir_p(File.dirname(File.join(@root, file)))
      File.write(File.join(@root, file), "")
    end
  end

  def teardown
    FileUtils.rm_rf(@root)
    super
  end

  def test_all
    paths = Mutations::Source.all(@root).map(&:path)

    assert_includes paths, "lib/pelton/waiting/timer.rb"
    assert_includes paths, "ext/pelton/core/http1/parser.c"
    refute_includes paths, "lib/pelton/version.rb"
    refute_includes paths, "pelton-lab/lib/pelton/lab/experiments/hello.rb", "it is run by the lab alone"
    assert_equal ["lib/pelton/waiting/timer.rb"], Mutations::Source.all(@root, /timer.rb/).map(&:path)
  end

  def test_core
    parser = source("ext/pelton/core/http1/parser.c")

    assert_equal "core/http1", parser.room
    assert_equal %w[test/core/http1/test_parser.c test/core/http1/test_parser_malformed.c], parser.named_tests
    assert_equal "test/core/http1/test_head.c", (parser.room_tests - parser.named_tests).join
  end

  def test_a_class_in_c
    parser = source("ext/pelton/ruby/http/parser_class.c")

    assert_equal "ruby/http", parser.room
    assert_equal ["test/http/parser_test.rb"], parser.named_tests
    assert_equal ["test/http/parser_test.rb"], parser.room_tests.first(1)
    assert_equal %w[test/http/server/job_test.rb test/http_test.rb test/rackup/handler_test.rb],
      parser.room_tests.drop(1).sort
  end

  def test_the_runtime
    assert_equal "runtime", source("lib/pelton/waiting/timer.rb").room
    assert_equal ["test/waiting/timer_test.rb"], source("lib/pelton/waiting/timer.rb").named_tests
    assert_equal %w[test/reactor/park_test.rb test/waiting/timer_test.rb],
      source("lib/pelton/waiting/timer.rb").room_tests
  end

  def test_a_room_of_the_extension
    assert_equal %w[test/reactor/park_test.rb test/waiting/timer_test.rb],
      source("ext/pelton/ruby/reactor/tick.c").room_tests
    assert_equal ["test/waiting/timer_test.rb"], source("ext/pelton/ruby/reactor/timer_class.c").named_tests
  end

  def test_a_room
    assert_equal "http", source("lib/pelton/http/server.rb").room
    assert_equal ["test/rackup/handler_test.rb"], source("lib/rackup/handler.rb").named_tests
  end

  def test_a_gem
    assert_equal "web", source("pelton-web/lib/pelton/web/routes/tree.rb").room
    assert_equal ["pelton-web/test/routes/tree_test.rb"], source("pelton-web/lib/pelton/web/routes/tree.rb").named_tests
    assert_equal ["pelton-sequel/test/plugins/a_test.rb"], source("pelton-sequel/lib/sequel/plugins/a.rb").named_tests
  end

  def test_rails_with_its_gems
    setup = source("pelton-rails/lib/pelton/active_record/setup.rb")

    assert_equal "active_record", setup.room
    assert_empty setup.named_tests, "the gems are missing"
    FileUtils.mkdir_p(File.join(@root, "tmp/rails"))
    assert_equal ["pelton-rails/test/downstream/active_record/setup_test.rb"], source(setup.path).named_tests
  end

  def test_integrations_with_the_gems_of_their_libraries
    integration = source("lib/pelton/integrations/a.rb")

    assert_equal ["test/integrations_test.rb"], integration.room_tests
    FileUtils.mkdir_p(File.join(@root, "tmp/web"))
    assert_equal ["test/downstream/integrations/a_test.rb"], source(integration.path).named_tests
  end

  def test_its_size_is_that_of_its_code
    File.write(File.join(@root, "lib/pelton/waiting/timer.rb"), "# a\n\nb\n  # c\nend\n")

    assert_equal 2, source("lib/pelton/waiting/timer.rb").size
  end

  private

  def source(path) = Mutations::Source.new(@root, path)
end
