# frozen_string_literal: true

require "test_helper"
require "pelton/lab/peers"
require "stringio"

class LabPeersTest < PeltonTest
  # Status, output and commands where no gem is installed; the block returns the output of each installation.
  def install(&answer)
    out = StringIO.new
    commands = []
    run = lambda do |command|
      commands << command
      answer.call(command[5])
    end
    [Pelton::Lab::Peers.new(out, run:, find: ->(*) {}).install, out.string, commands]
  end

  def test_each_is_installed_alone_in_the_version_that_works
    status, said, commands = install { ["", true] }

    assert_equal 0, status
    assert_includes said, "dalli was installed"
    assert_equal Pelton::Lab::Peers::GEMS.to_a, commands.map { |command| command.values_at(5, 7) }
    assert_equal ["-S", "gem", "install", "--no-document"], commands.first[1, 4]
  end

  def test_one_that_does_not_install_is_named_with_the_reason
    status, said, = install do |name|
      if name == "memcached"
        ["Building native extensions.\nchecking for sasl.h... no\nsasl.h is missing\nmake failed\n", false]
      else
        ["", true]
      end
    end

    assert_equal 1, status
    assert_match(/^memcached does not install, the lab goes on without it: sasl\.h is missing$/, said)
    assert_equal Pelton::Lab::Peers::GEMS.size, said.lines.size, "the others are installed all the same"
  end

  def test_an_installed_one_is_left_alone
    peers = Pelton::Lab::Peers.new(out = StringIO.new, run: ->(_) { flunk "nothing is to be installed" },
      find: ->(*) { "1.2.3" })

    assert_equal 0, peers.install
    assert_includes out.string, "dalli 1.2.3 is here"
  end
end
