# frozen_string_literal: true

require_relative "../helper"
require "pelton/eventmachine/protocols/postgres3_scram"

# The example of RFC 7677.
class EventMachinePostgres3ScramTest < EventMachineTest
  CHALLENGE = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"

  def setup
    @scram = EM::P::Postgres3Scram.new("pencil", nonce: "rOprNGfwEbeRWgbNEkqO", user: "user")
  end

  def test_messages_of_the_client
    assert_equal "n,,n=user,r=rOprNGfwEbeRWgbNEkqO", @scram.first
    assert_equal "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
      @scram.final(CHALLENGE)
  end

  def test_the_server_must_prove_that_it_knows_the_password
    refute @scram.proved?("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    @scram.final(CHALLENGE)

    assert @scram.proved?("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    refute @scram.proved?("v=AAAA")
    refute @scram.proved?("e=other-error")
  end

  def test_a_challenge_with_another_nonce_is_refused
    ["r=another,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonsense", CHALLENGE.sub("i=4096", "i=0")].each do |challenge|
      assert_raises(EM::P::Postgres3Scram::Wrong) { @scram.final(challenge) }
    end
  end
end
