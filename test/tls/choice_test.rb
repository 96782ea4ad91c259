# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/certificates"
require "pelton"

class TLSChoiceTest < PeltonTest
  Choice = Pelton::TLS::Choice

  def test_names
    names = {nil => nil, "" => "", "A.Example" => "a.example", "a.example." => "a.example", "[::1]" => "[::1]"}

    assert_equal(names, names.to_h { |text, _| [text, Choice.canonical(text)] })
  end

  def test_the_name_is_looked_up_in_lower_case_and_without_the_roots_dot
    one = Pelton::TLS::Context.new
    asked = []
    contexts = [{"a.example" => one, "*.b.example" => one}, ->(name) {
      (asked << name) &&
        (one if name&.end_with?("example"))
    }].map { |sni| Pelton::TLS::Context.new(sni: sni) }
    contexts.each do |listener|
      choose = listener._chooser(false, nil)
      chosen = ["a.example", "A.EXAMPLE.", "x.b.example.", "other", nil].map { |name| choose.call(name).first }

      assert_equal [one, one, one, listener, listener], chosen
    end
    assert_equal ["a.example", "a.example", "x.b.example", "other", nil], asked
  end

  def test_what_c_gets
    listener =
      Pelton::TLS::Context.new(ca_file: Certificates.authority, verify: true, sni: {
        "open.test" => Pelton::TLS::Context.new(verify: false),
        "any.test" => Pelton::TLS::Context.new(verify: :optional, on_certificate: ->(_) { true })
      })
    levels = ["open.test", "any.test", "other.test"].map do |name|
      listener._chooser(true, nil).call(name).then { |_, level, check, choice| [level, check.nil?, choice.name] }
    end

    assert_equal [[0, true, "open.test"], [1, false, "any.test"], [2, true, "other.test"]], levels
    assert_nil Pelton::TLS::Context.new(sni: ->(_) { false })._chooser(true, nil).call("a")
    assert_nil Pelton::TLS::Context.new._chooser(true, nil)
  end

  def test_who_is_content_with_whom
    check = ->(_) { true }
    authorities = [{}, {ca_file: Certificates.authority}, {ca_file: Certificates.server.certificate}]
    open, *closed = [false, true, :optional].product([nil, check]).flat_map do |verify, on_certificate|
      authorities.filter_map do |trust|
        choice(verify, on_certificate, **trust) unless verify && trust.empty? && !on_certificate
      end
    end

    closed.each do |one|
      assert one.content_with?(choice(one.verify, one.check, **one.context.instance_variable_get(:@settings)))
    end
    closed.combination(2) { |one, other| refute one.content_with?(other) unless !one.verify && !one.check }
    closed.each { |one| assert open.content_with?(one) }
  end

  private

  def choice(verify, check, **trust)
    Choice.new("a.test", Pelton::TLS::Context.new(verify: verify, on_certificate: check, **trust),
      Pelton::TLS::Context.new, false, nil)
  end
end
