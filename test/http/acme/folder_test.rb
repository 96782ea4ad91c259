# frozen_string_literal: true

require "tmpdir"
require_relative "../../test_helper"
require_relative "../../support/certificates"
require "pelton/http"
require "pelton/http/acme"

class HTTPAcmeFolderTest < PeltonTest
  NAMES = %w[a.example b.example].freeze

  def setup
    @path = Dir.mktmpdir
    @folder = Pelton::HTTP::Acme::Folder.new(@path, NAMES)
  end

  def teardown = FileUtils.rm_rf(@path)

  def mode_of(path) = File.stat(path).mode & 0o777

  # Stores a certificate of the tests' authority.
  def store(names = NAMES, valid: -60..3600)
    identity = Certificates.for(*names, valid: valid)
    @folder.prepare.store(identity.certificate, identity.key)
  end

  def test_it_begins_with_a_certificate_of_its_own
    @folder.prepare

    assert_predicate @folder, :placeholder?
    assert_predicate @folder, :due?
    assert Pelton::TLS::Context.new(certificate: @folder.certificate_path)
  end

  def test_only_the_owner_can_read_it
    @folder.prepare.account_key

    assert_equal 0o700, mode_of("#{@path}/challenges")
    assert_equal 0o600, mode_of(@folder.certificate_path)
    assert_equal 0o600, mode_of("#{@path}/account.pem")
  end

  def test_a_certificate_of_an_authority
    store
    kept = File.read(@folder.certificate_path)
    @folder.prepare

    refute_predicate @folder, :placeholder?
    refute_predicate @folder, :due?
    assert_equal kept, File.read(@folder.certificate_path)
    assert Pelton::TLS::Context.new(certificate: @folder.certificate_path)
  end

  def test_it_is_due_a_third_before_its_end
    store(valid: 0..3000)
    start = @folder.certificate.not_before

    refute @folder.due?(start + 1900)
    assert @folder.due?(start + 2100)
  end

  def test_it_is_due_when_a_name_has_come
    store(["a.example"])

    assert_predicate @folder, :due?
  end

  def test_it_is_not_due_when_a_name_has_gone
    store([*NAMES, "c.example"])

    refute_predicate @folder, :due?
  end

  def test_a_file_that_is_no_certificate
    @folder.prepare
    File.write(@folder.certificate_path, "nonsense")

    assert_nil @folder.certificate
    assert_predicate @folder, :due?
    assert_predicate @folder.prepare, :placeholder?
    refute_nil @folder.certificate
  end

  def test_the_account_is_kept
    @folder.prepare

    assert_equal @folder.account_key.to_pem, @folder.account_key.to_pem
  end

  def test_a_challenge_is_there_during_its_order
    @folder.prepare.offering("token-1", "token-1.thumbprint") do
      assert_equal "token-1.thumbprint", @folder.challenge("token-1")
    end

    assert_nil @folder.challenge("token-1")
  end

  # They come from whoever asks, and from the authority.
  def test_tokens_that_are_paths
    @folder.prepare
    ["../account.pem", "a/b", "", ".", "a" * 201, "a\0b"].each do |token|
      assert_nil @folder.challenge(token), token.inspect
    end
    assert_raises(Pelton::Error) { @folder.offering("../account.pem", "x") { flunk } }
  end

  def test_a_name_s_certificate_is_there_during_its_order
    @folder.prepare.offering_certificate("a.example", "a certificate") do
      assert_equal "a certificate", File.read(@folder.challenge_certificate("a.example"))
      assert_nil @folder.challenge_certificate("b.example")
      assert_nil @folder.challenge("a.example.pem"), "by HTTP"
    end

    assert_nil @folder.challenge_certificate("a.example")
  end

  # They come from whoever asks, and from the authority.
  def test_names_that_are_paths
    @folder.prepare
    ["../account", "", nil, "c.example"].each { |name| assert_nil @folder.challenge_certificate(name), name.inspect }
    assert_raises(Pelton::Error) { @folder.offering_certificate("../account", "x") { flunk } }
  end

  def test_one_at_a_time
    @folder.prepare
    other = Pelton::HTTP::Acme::Folder.new(@path, NAMES)

    assert_equal [1, nil], @folder.alone { [1, other.alone { flunk }] }
    assert_equal 2, other.alone { 2 }
  end

  def test_a_folder_that_cannot_be_written
    File.write("#{@path}/file", "")

    assert_raises(SystemCallError) { Pelton::HTTP::Acme::Folder.new("#{@path}/file/certificates", NAMES).prepare }
  end
end
