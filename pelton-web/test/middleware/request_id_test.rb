# frozen_string_literal: true

require "pelton/web"
require_relative "../support/requests"

class WebRequestIdTest < PeltonTest
  include WebRequests

  APP = Pelton::Web::RequestId.new(->(env) { [200, {}, [env["HTTP_X_REQUEST_ID"]]] })

  def id(header = nil)
    answer = request(APP, "GET", "/", "HTTP_X_REQUEST_ID" => header)

    assert_equal answer.body, answer["x-request-id"]
    answer.body
  end

  def test_a_new_one
    assert_match(/\A\h{16}\z/, id)
    refute_equal id, id
  end

  def test_the_client_s
    %w[a 6f2c7b1e-0b4a-4a86-9d9b-0d2f3ad2a9b1 abc.DEF_1+2/3=].each { |text| assert_equal text, id(text) }
  end

  def test_what_could_hurt_a_log
    ["", " ", "a b", "a\"", "a\n", "a\r\nb: c", "a" * 129, "é".b, "<b>", "\xff".b].each do |text|
      assert_match(/\A\h{16}\z/, id(text), text.inspect)
    end
  end

  def test_it_can_be_left_out
    settings = Pelton::Web::Settings.new.tap { |one| one.request_id = false }

    assert_equal :app, Pelton::Web::RequestId.wrap(:app, settings)
  end
end
