# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require "pelton/http"
require "pelton/http/local_authority"

class HTTPLocalAuthorityTest < PeltonTest
  def setup
    @folder = Dir.mktmpdir
    @authority = Pelton::HTTP::LocalAuthority.new("#{@folder}/pelton")
  end

  def teardown = FileUtils.rm_rf(@folder)

  def certificate(path) = OpenSSL::X509::Certificate.new(File.read(path))

  # Whether a client that trusts the authority takes the certificate.
  def trusted?(certificate)
    store = OpenSSL::X509::Store.new
    store.add_file(@authority.path)
    store.verify(certificate)
  end

  def test_a_certificate_for_this_machine
    path = @authority.prepare
    one = certificate(path)

    assert trusted?(one)
    %w[localhost app.localhost 127.0.0.1 ::1].each do |name|
      assert OpenSSL::SSL.verify_certificate_identity(one, name), name
    end
    refute OpenSSL::SSL.verify_certificate_identity(one, "example.com")
    assert Pelton::TLS::Context.new(certificate: path)
  end

  def test_both_are_kept
    before = [File.read(@authority.prepare), File.read(@authority.path)]

    assert_equal before, [File.read(@authority.prepare), File.read(@authority.path)]
  end

  # Whoever steals the key can deceive nobody about other hosts.
  def test_it_can_vouch_for_no_other_host
    @authority.prepare
    key = OpenSSL::PKey::EC.new(File.read("#{@folder}/pelton/authority-key.pem"))
    issuer = Pelton::HTTP::X509::Identity.new(certificate(@authority.path), key)
    forged = Pelton::HTTP::X509.make({"CN" => "example.com"},
      seconds: 60, issuer: issuer, extensions: {"subjectAltName" => "DNS:example.com"})

    refute trusted?(forged.certificate)
  end

  def test_only_the_owner_can_read_the_keys
    @authority.prepare

    assert_equal 0o700, File.stat("#{@folder}/pelton").mode & 0o777
    assert_equal [0o600], Dir["#{@folder}/pelton/*"].map { |path| File.stat(path).mode & 0o777 }.uniq
  end

  def test_files_that_are_broken_are_made_anew
    path = @authority.prepare
    File.write(path, "nonsense")

    assert trusted?(certificate(@authority.prepare))
    File.write(@authority.path, "nonsense")

    assert trusted?(certificate(@authority.prepare))
  end

  def test_a_folder_that_cannot_be_written
    File.write("#{@folder}/file", "")

    assert_raises(SystemCallError) { Pelton::HTTP::LocalAuthority.new("#{@folder}/file/pelton").prepare }
  end

  def test_the_user_s_own
    before = ENV["XDG_DATA_HOME"]
    ENV["XDG_DATA_HOME"] = @folder

    assert_equal "#{@folder}/pelton/authority.pem", Pelton::HTTP::LocalAuthority.default.path
  ensure
    ENV["XDG_DATA_HOME"] = before
  end
end
