# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require_relative "../../support/static_files"

class WebStaticAssetTest < PeltonTest
  include StaticFiles

  def test_a_file_and_its_codings
    with_files("a.js" => "plain", "a.js.br" => "br", "b.unknown" => "x") do |folder|
      asset = Pelton::Web::Static::Asset.new(File.join(folder, "a.js"))

      assert_equal %w[a.js a.js.br], asset.paths.map { |path| File.basename(path) }
      assert_equal ["br", nil, nil], ["br, gzip", "gzip", nil].map { |header| asset.file_for(header).coding }
      assert_predicate asset, :codings?
      assert_match(/\Atext\/javascript; charset=utf-8\z/, asset.content_type)
      refute_predicate Pelton::Web::Static::Asset.new(File.join(folder, "b.unknown")), :codings?
    end
  end

  def test_changes_are_noticed
    with_files("a.js" => "plain", "a.js.gz" => "gz") do |folder|
      asset = Pelton::Web::Static::Asset.new(File.join(folder, "a.js"))

      assert_predicate asset, :current?
      File.binwrite(File.join(folder, "a.js.gz"), "other")
      refute_predicate asset, :current?
      refute_equal asset.file_for("gzip").etag,
        Pelton::Web::Static::Asset.new(File.join(folder, "a.js")).file_for("gzip").etag
    end
  end

  def test_the_name_with_the_digest_is_another_asset
    with_files("a.js" => "plain") do |folder|
      asset = Pelton::Web::Static::Asset.new(File.join(folder, "a.js"))

      assert_equal false, asset.fingerprinted?
      assert_equal true, asset.fingerprinted.fingerprinted?
      assert_equal Digest::SHA256.hexdigest("plain").slice(0, 16), asset.digest
    end
  end
end
