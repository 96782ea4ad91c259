# frozen_string_literal: true

require "tmpdir"
require_relative "../../test_helper"
require "pelton/http"
require "pelton/http/acme"

class HTTPAcmeChallengesTest < PeltonTest
  APP = ->(env) { [404, {}, ["the application: #{env["PATH_INFO"]}"]] }

  def setup
    @path = Dir.mktmpdir
    @folder = Pelton::HTTP::Acme::Folder.new(@path, ["a.example"]).prepare
    @challenges = Pelton::HTTP::Acme::Challenges.new(APP, @folder)
  end

  def teardown = FileUtils.rm_rf(@path)

  def get(path) = @challenges.call({"PATH_INFO" => path})

  def test_the_authority_s_question
    @folder.offering("token", "token.thumbprint") do
      status, headers, body = get("/.well-known/acme-challenge/token")

      assert_equal 200, status
      assert_equal ["token.thumbprint"], body
      assert_equal "application/octet-stream", headers["content-type"]
    end
  end

  # Another program may answer for the same name.
  def test_everything_else_is_the_application_s
    ["/", "/.well-known/acme-challenge/other",
      "/.well-known/acme-challenge/../account.pem", "/.well-known/acme-challenge/"].each do |path|
      assert_equal APP.call({"PATH_INFO" => path}), get(path)
    end
  end
end
