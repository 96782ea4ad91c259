# frozen_string_literal: true

require_relative "../helper"
require "pelton/eventmachine/protocols/postgres3_scram"

# The example of RFC 7677.
class EventMachinePostgres3ScramTest < EventMachineTest
  CHALLENGE = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"

  def setup
    @scram = EM::P::Postgres3Scram.new("pencil", nonce: "rOprNGfwEbeRWgbNEkqO", user: "user")
  end

  def test_what_is_sent
    assert_equal "n,,n=user,r=rOprNGfwEbeRWgbNEkqO", @scram.first
    assert_equal "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
      @scram.final(CHALLENGE)
  end

  def test_the_server_must_know_the_password_as_well
    refute @scram.server_knows?("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    @scram.final(CHALLENGE)

    assert @scram.server_knows?("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    refute @scram.server_knows?("v=AAAA")
    refute @scram.server_knows?("e=other-error")
  end

  def test_a_challenge_to_another_is_refused
    ["r=another,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonsense", CHALLENGE.sub("i=4096", "i=0")].each do |challenge|
      assert_raises(EM::P::Postgres3Scram::Wrong) { @scram.final(challenge) }
    end
  end
end
