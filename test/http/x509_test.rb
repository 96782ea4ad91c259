# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require "pelton/http"
require "pelton/http/x509"

class HTTPX509Test < PeltonTest
  X509 = Pelton::HTTP::X509

  def test_one_that_signs_itself
    identity = X509.make({"CN" => "a.example"},
      seconds: 3600, extensions: {"subjectAltName" => X509.alternatives(%w[a.example 127.0.0.1 ::1])})
    certificate = identity.certificate

    assert certificate.verify(identity.key)
    assert certificate.check_private_key(identity.key)
    assert_equal "/CN=a.example", certificate.subject.to_s
    assert_equal certificate.subject, certificate.issuer
    assert_equal "DNS:a.example, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1", certificate.extensions.first.value
    assert_operator certificate.not_before, :<=, Time.now
    assert_in_delta 3660, certificate.not_after - certificate.not_before, 1
  end

  def test_one_that_an_authority_signs
    authority = X509.make({"CN" => "authority"}, seconds: 60, extensions: {"basicConstraints" => "critical,CA:TRUE"})
    identity = X509.make({"CN" => "a.example"}, seconds: 60, issuer: authority)

    assert authority.certificate.extensions.first.critical?
    assert identity.certificate.verify(authority.key)
    assert_equal "/CN=authority", identity.certificate.issuer.to_s
  end

  def test_each_has_another_number
    refute_equal(*Array.new(2) { X509.make({"CN" => "a"}, seconds: 60).certificate.serial })
  end

  def test_a_file_that_the_owner_alone_can_read
    Dir.mktmpdir do |folder|
      File.write("#{folder}/key.pem", "old", perm: 0o644)
      X509.write("#{folder}/key.pem", "new")

      assert_equal "new", File.read("#{folder}/key.pem")
      assert_equal 0o600, File.stat("#{folder}/key.pem").mode & 0o777
      assert_equal ["key.pem"], Dir.children(folder)
    end
  end
end
