# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebCacheControlTest < PeltonTest
  {
    nil => "private, no-cache",
    "public, max-age=60" => "private, max-age=60",
    "Public,S-MaxAge = 5 , max-age=60, proxy-revalidate, stale-while-revalidate=3" => "private, max-age=60, " \
      "stale-while-revalidate=3",
    "max-age=5" => "private, max-age=5",
    "no-cache" => "private, no-cache",
    "" => "private",
    "private, max-age=5" => "private, max-age=5",
    "no-store" => "no-store",
    "Private" => "Private",
    "public, private=\"set-cookie, x\"" => "private, private=\"set-cookie, x\"",
    "public, no-cache=\"a, public\"" => "private, no-cache=\"a, public\"",
    ["public", "max-age=60"] => "private, max-age=60"
  }.each do |given, own|
    define_method(:"test_#{given.inspect}_of_one_client") do
      [{}, Pelton::Web::Response::Headers.new].each do |headers|
        headers["cache-control"] = given if given
        Pelton::Web::CacheControl.own(headers)

        assert_equal own, headers["cache-control"]
      end
    end
  end

  def test_without_a_default_nothing_is_added
    headers = {}
    Pelton::Web::CacheControl.own(headers, nil)

    assert_empty headers
  end
end
