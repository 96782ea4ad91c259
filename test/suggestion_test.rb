# frozen_string_literal: true

require_relative "test_helper"
require "pelton"

class SuggestionTest < PeltonTest
  def test_a_misspelt_name
    assert_equal "; did you mean workers?", Pelton.suggestion("wokers", %i[workers rackup])
    assert_equal "; did you mean trusted_proxies?", Pelton.suggestion(:trusted_proxy, %w[trusted_proxies hosts])
  end

  def test_a_name_like_no_other
    assert_equal "", Pelton.suggestion("xyzzy", %i[workers rackup])
  end

  # Ruby may run without the library.
  def test_without_did_you_mean
    assert_equal "\"\"\n", IO.popen([RbConfig.ruby, "--disable-did_you_mean", "-I#{LIB}", "-rpelton",
      "-e", "p Pelton.suggestion('wokers', [:workers])"], &:read)
  end
end
