# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab/environment"
require "pelton/version"

class LabEnvironmentTest < PeltonTest
  def setup
    @environment = Pelton::Lab::Environment.new.to_h
  end

  def test_versions
    assert_equal [Pelton::VERSION, RUBY_DESCRIPTION], @environment.values_at(:pelton, :ruby)
  end

  def test_the_machine
    assert_operator @environment[:usable_cores], :>=, 1
    assert_operator @environment[:cores], :>=, @environment[:usable_cores]
    assert_includes @environment[:kernel], Etc.uname[:release]
  end

  def test_the_commit_of_a_checkout
    skip "not a checkout" unless File.exist?(File.join(ROOT, ".git"))

    assert_match(/\A\h{7,}\+?\z/, @environment[:commit])
  end
end
