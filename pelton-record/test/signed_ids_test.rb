# frozen_string_literal: true

require "test_helper"
require_relative "support/blog"

class SignedIdsTest < PeltonTest
  include Blog

  def setup
    super
    @signing = model(:Signing) do
      self.table_name = "authors"
      self.signed_id_verifier_secret = -> { "s" * 32 }
    end
    @one = @signing.create!(name: "Ann")
  end

  def test_a_signed_id_finds_its_row
    signed = @one.signed_id

    assert_equal @one, @signing.find_signed(signed)
    assert_equal @one, @signing.where(name: "Ann").find_signed!(signed)
    assert_nil @signing.where(name: "Bob").find_signed(signed)
    assert_match(/\A[\w-]+\z/, signed)
    assert_equal @one.id, ActiveSupport::MessageVerifier.new("s" * 32, digest: "SHA256", serializer: JSON, url_safe: true).verify(signed, purpose: "signed_ids_test/signing"), "as ActiveRecord's"
    @one.delete
    assert_nil @signing.find_signed(signed)
    assert_raises(Pelton::Record::NotFound) { @signing.find_signed!(signed) }
  end

  def test_the_purpose_and_the_end_count
    signed = @one.signed_id(purpose: :reset, expires_at: Time.now + 60)

    assert_equal @one, @signing.find_signed(signed, purpose: :reset)
    assert_nil @signing.find_signed(signed)
    assert_nil @signing.find_signed(signed, purpose: :login)
    assert_nil @signing.find_signed(@one.signed_id(expires_at: Time.now - 1))
  end

  def test_another_class_s_is_not_valid
    other = model(:OtherSigning) { self.table_name = "authors" }
    other.signed_id_verifier_secret = "s" * 32

    assert_nil other.find_signed(@one.signed_id)
  end

  def test_anything_else_from_outside_finds_nothing
    signed = @one.signed_id
    forged = [nil, "", "1", 1, [signed], {"a" => signed}, signed.chop, "#{signed}x", "\xff".b, "\xff", "a--b", signed.reverse]

    assert_equal [nil], forged.map { |text| @signing.find_signed(text) }.uniq
    forged.each { |text| assert_raises(Pelton::Record::NotFound) { @signing.find_signed!(text) } }
  end

  def test_a_secret_is_needed
    without = model(:Unsigned) { self.table_name = "authors" }
    short = model(:ShortSecret) { self.table_name = "authors" }
    short.signed_id_verifier_secret = "short"

    [without, short].each do |one|
      assert_match(/a secret of 32 bytes/, assert_raises(Pelton::Record::Error) { one.first.signed_id }.message)
      assert_raises(Pelton::Record::Error) { one.find_signed("x") }
    end
    assert_raises(Pelton::Record::NotSaved) { @signing.new.signed_id }
  end

  def test_secrets_are_inherited_and_may_be_rotated
    below = Class.new(@signing) { def self.name = "Below" }
    before = @one.signed_id

    assert_equal @one.pk, below.find_signed(before).pk
    @signing.signed_id_verifier = ActiveSupport::MessageVerifier.new("t" * 32, digest: "SHA256", serializer: JSON, url_safe: true).tap { |one| one.rotate("s" * 32) }

    assert_equal @one, @signing.find_signed(before)
    refute_equal before, @one.signed_id
  end
end
