# frozen_string_literal: true

require "tmpdir"
require_relative "../../test_helper"
require_relative "../../support/captured_log"
require_relative "../../support/certificates"
require "pelton/http"
require "pelton/http/acme"

class HTTPAcmeRenewalTest < PeltonTest
  include CapturedLog

  # Gives what the block gives.
  Authority = Struct.new(:answer) do
    def certificate = answer.call
  end

  def setup
    super
    @path = Dir.mktmpdir
    @folder = Pelton::HTTP::Acme::Folder.new(@path, ["a.example"]).prepare
    @renewed = 0
  end

  def teardown
    FileUtils.rm_rf(@path)
    super
  end

  def renewal(&answer) = Pelton::HTTP::Acme::Renewal.new(@folder, Authority.new(answer), pause: 60) { @renewed += 1 }

  def identity = Certificates.for("a.example").to_h.values

  def refused(...) = Pelton::HTTP::Acme::Refused.new(...)

  def test_a_certificate_that_is_due
    assert_nil renewal { identity }.look

    refute_predicate @folder, :placeholder?
    assert_equal 1, @renewed
  end

  def test_one_that_is_not_due
    @folder.store(*identity)
    renewal { flunk "it was ordered" }.look

    assert_equal 0, @renewed
  end

  def test_another_process_renews
    @folder.alone { assert_nil renewal { flunk "it was ordered" }.look }
  end

  # Authorities count attempts that fail.
  def test_the_pauses_grow
    failing = renewal { raise refused("no") }
    pauses = Array.new(12) { failing.look }

    assert_equal [60, 120, 240], pauses.first(3)
    assert_equal 21_600, pauses.last
  end

  def test_the_authority_says_when
    assert_equal 3600, renewal { raise refused("rate limited", retry_after: 3600) }.look
  end

  def test_a_failure_is_logged_and_the_old_certificate_stays
    before = File.read(@folder.certificate_path)
    renewal { raise refused("the name leads elsewhere") }.look

    expected =
      /no certificate for a\.example: the name leads elsewhere; the self-signed one is served, next attempt in 60 s/
    assert_match expected, log
    assert_equal before, File.read(@folder.certificate_path)
    assert_equal 0, @renewed
  end

  def test_a_full_disk_is_a_failure_too
    assert_equal 60, renewal { raise Errno::ENOSPC }.look
  end

  def test_a_success_ends_the_long_pauses
    answers = [-> { raise refused("no") }, -> { identity }, -> { raise refused("no") }]
    one = renewal { answers.shift.call }
    2.times { one.look }
    @folder.store(*Certificates.for("other.example").to_h.values)

    assert_equal 60, one.look
  end
end
