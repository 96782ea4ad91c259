# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"

class HTTPAsteriskTest < PeltonTest
  Asterisk = Pelton::HTTP::Asterisk

  def test_the_path_of_a_request_about_the_server
    answer = Asterisk.new(->(env) { env["PATH_INFO"] })

    assert_equal ["/", "/a*", "/"], ["*", "/a*", "/"].map { |path| answer.call({"PATH_INFO" => path}) }
  end

  def test_the_racks_that_need_it
    with_rack(nil) { refute_predicate Asterisk, :needed? }
    {"2.2.23" => true, "3.0.18" => true, "3.1.0" => false, "3.2.8" => false, "10.0" => false}.each do |release, needed|
      with_rack(release) { assert_equal needed, Asterisk.needed?, release }
    end
  end

  private

  def with_rack(release)
    before = Object.send(:remove_const, :Rack) if defined?(::Rack)
    Object.const_set(:Rack, Module.new { define_singleton_method(:release) { release } }) if release
    yield
  ensure
    Object.send(:remove_const, :Rack) if release
    Object.const_set(:Rack, before) if before
  end
end
