# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/control"
require "pelton/command/purge"
require "stringio"

class PurgeTest < PeltonTest
  def test_it_says_how_many_were_removed
    asked = nil
    code, out, error = purge("/a b?c=d&e/*") { |path| (asked = path) && {purged: 3} }

    assert_equal 0, code
    assert_equal "purged: 3\n", out
    assert_empty error
    assert_equal "/a b?c=d&e/*", asked
  end

  def test_a_worker_that_does_not_answer
    code, out, error = purge("/a") { "worker 1 does not answer" }

    assert_equal 1, code
    assert_empty out
    assert_match(/: worker 1 does not answer\n\z/, error)
  end

  def test_a_server_that_is_not_there
    code, out, error = run_purge("unix:///nowhere/socket", "/a")

    assert_equal 1, code
    assert_empty out
    assert_match(%r{\Apelton purge: unix:///nowhere/socket: No such file}, error)
  end

  def test_wrong_arguments
    [[], ["x"], %w[x a], %w[--no /a], %w[x /a /b]].each do |arguments|
      code, _, error = run_purge(*arguments)
      assert_equal 2, code, arguments.inspect
      assert_match(/\Ausage: pelton purge ADDRESS PATH/, error)
    end
  end

  def test_help
    %w[-h --help].each do |flag|
      code, out, error = run_purge(flag)
      assert_equal 0, code
      assert_empty error
      assert_match(/\Ausage: pelton purge ADDRESS PATH/, out)
    end
  end

  private

  def purge(path, &block)
    control = Pelton::Control.new("tcp://127.0.0.1:0", stats: -> { {} }, metrics: -> { "" }, purge: block)
    run_purge(control.address, path)
  ensure
    control&.close
  end

  def run_purge(*arguments)
    out, error = StringIO.new, StringIO.new
    [Pelton::Purge.run(arguments, out: out, error: error), out.string, error.string]
  end
end
