# frozen_string_literal: true

require "test_helper"
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

  def test_a_machine_that_others_use
    assert_equal "Other programs were using the machine when the lab began (load 1.5 on 2 cores).",
      Pelton::Lab::Environment.busy({load: 1.5, usable_cores: 2})
    [0.5, nil].each { |load| assert_nil Pelton::Lab::Environment.busy({load:, usable_cores: 2}) }
  end

  def test_the_commit_of_a_checkout
    skip "not a checkout" unless File.exist?(File.join(ROOT, ".git"))

    assert_match(/\A\h{7,}\+?\z/, @environment[:commit])
  end
end
