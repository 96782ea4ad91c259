# frozen_string_literal: true

require "openssl"
require "tmpdir"
require_relative "../../test_helper"
require "pelton/http"
require "pelton/http/acme"

# What needs no authority; test/integration/acme_test.rb has one.
class HTTPAcmeOrderTest < PeltonTest
  Acme = Pelton::HTTP::Acme
  TOKEN = "token"

  # In the place of the gem's client, and of its order. It looks at the folder when it is asked to validate, and then
  # says what it has found.
  class Authority
    Jwk = Struct.new(:thumbprint)
    Authorization = Struct.new(:domain, :status, :challenges)

    attr_reader :status, :asked

    def initialize(offered, &look)
      @offered, @look, @asked, @status = offered, look, [], "pending"
    end

    def jwk = Jwk.new("thumbprint")

    def new_account(**) = nil

    def new_order(**) = self

    def authorizations
      challenges = @offered.map { |way| {"type" => way, "status" => "pending", "url" => way, "token" => TOKEN} }
      [Authorization.new("a.example", "pending", challenges)]
    end

    def request_challenge_validation(url:)
      @asked << url
      {url: url, token: TOKEN, status: @look.call(url) ? "valid" : "invalid"}
    end

    def finalize(csr:) = @status = csr.names.any? ? "valid" : "invalid"

    def certificate = "the chain"
  end

  def setup
    Acme::Order.prepare
    @path = Dir.mktmpdir
    @folder = Acme::Folder.new(@path, ["a.example"]).prepare
  rescue LoadError
    skip "the gem acme-client is not installed"
  end

  def teardown
    FileUtils.rm_rf(@path) if @path
  end

  # @return [Array(Authority, Acme::Order)]
  def order(offered, &look)
    authority = Authority.new(offered, &look)
    [authority, Acme::Order.new(@folder, directory: "https://authority.example/directory")].tap do |_, order|
      order.define_singleton_method(:certificate) { ::Acme::Client.stub(:new, authority) { super() } }
    end
  end

  def test_each_way_shows_the_authority_what_it_asks_for
    shown = []
    ["http-01", "tls-alpn-01"].each do |way|
      _, order = order([way]) { shown << [@folder.challenge(TOKEN), !@folder.challenge_certificate("a.example").nil?] }
      chain, key = Pelton.run { order.certificate }

      assert_equal "the chain", chain
      assert_kind_of OpenSSL::PKey::EC, OpenSSL::PKey::EC.new(key)
    end

    assert_equal [["token.thumbprint", false], [nil, true]], shown
    assert_empty Dir.children("#{@path}/challenges"), "afterwards"
  end

  def test_after_a_way_has_failed_the_next_one_is_tried
    authority, order = order(["tls-alpn-01", "http-01"]) { |way| way == "tls-alpn-01" }
    Pelton.run do
      error = assert_raises(Acme::Refused) { order.certificate }

      assert_match(%r{\Aa\.example: invalid\. The authority asks at http://a\.example:80/}, error.message)
      assert_equal "the chain", order.certificate.first
    end
    assert_equal ["http-01", "tls-alpn-01"], authority.asked
  end

  def test_an_authority_that_offers_another_way_alone
    _, order = order(["dns-01"]) { flunk }
    error = assert_raises(Acme::Refused) { Pelton.run { order.certificate } }

    assert_equal "a.example: the authority offers none of http-01, tls-alpn-01", error.message
  end
end
