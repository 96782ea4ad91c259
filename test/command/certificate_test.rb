# frozen_string_literal: true

require "stringio"
require "tmpdir"
require_relative "../test_helper"
require "pelton/command/certificate"

class CertificateCommandTest < PeltonTest
  def run_command(*arguments, folder: nil)
    @out, @error = StringIO.new, StringIO.new
    authority = Pelton::HTTP::LocalAuthority.new(folder) if folder
    Pelton::Command::Certificate.run(arguments, out: @out, error: @error, authority: authority)
  end

  def test_trust_makes_the_authority_and_says_how
    Dir.mktmpdir do |folder|
      assert_equal 0, run_command("trust", folder: folder)
      assert_path_exists "#{folder}/authority.pem"
      assert_includes @out.string, "sudo cp #{folder}/authority.pem /usr/local/share/ca-certificates/pelton.crt"
    end
  end

  def test_help
    assert_equal 0, run_command("--help")
    assert_match(/\Ausage: pelton certificate trust/, @out.string)
  end

  def test_other_arguments
    assert_equal 2, run_command("nonsense")
    assert_match(/\Ausage: pelton certificate trust/, @error.string)
  end

  def test_a_folder_that_cannot_be_written
    Tempfile.create do |file|
      assert_equal 1, run_command("trust", folder: "#{file.path}/pelton")
      assert_match(/\Apelton certificate: /, @error.string)
    end
  end
end
