# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"

class HTTPEntityTagTest < PeltonTest
  EntityTag = Pelton::HTTP::EntityTag

  def test_tags
    assert_match(/\A"\h{32}"\z/, EntityTag.strong("a"))
    assert_equal "W/#{EntityTag.strong("a")}", EntityTag.weak("a")
    refute_equal EntityTag.strong("a"), EntityTag.strong("b")
  end

  # The tag must not depend on which library computes it: workers and machines share it.
  def test_the_same_tag_with_and_without_openssl
    program =
      "require 'pelton/http'; puts ['a', 'a' * 256, 'a' * 257, 'a' * 9999].map { |text| " \
      "Pelton::HTTP::EntityTag.strong(text) }"
    without =
      "module Kernel; alias_method :load_library, :require; def require(name) = name == 'openssl' ? raise(LoadError) " \
      ": load_library(name); end; #{program}"

    assert_equal ruby_output(program), ruby_output(without)
  end

  def test_if_none_match
    {
      '"a"' => true, 'W/"a"' => true, '"b", "a"' => true, '"b",W/"a" ' => true, "*" => true, " * " => true,
      '"b,", "a"' => true,
      '"b"' => false, "a" => false, "" => false, '"a' => false, '"A"' => false, '"b, W/\"a"' => false
    }.each do |header, expected|
      assert_equal expected, EntityTag.match?(header, '"a"'), header
      assert_equal expected, EntityTag.match?(header, 'W/"a"'), header
    end
  end

  def test_only_get_and_head_ask
    env = {"HTTP_IF_NONE_MATCH" => '"a"'}

    %w[GET HEAD].each { |verb| assert EntityTag.current?(env.merge("REQUEST_METHOD" => verb), '"a"') }
    %w[POST PUT DELETE].each { |verb| refute EntityTag.current?(env.merge("REQUEST_METHOD" => verb), '"a"') }
    refute EntityTag.current?({"REQUEST_METHOD" => "GET"}, '"a"')
  end
end
